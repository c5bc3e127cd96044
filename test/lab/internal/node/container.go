package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// containerPIDs lists the processes of a container: those in the cgroup of its first process, whose id containerd
// keeps in a file.
func (n *Node) containerPIDs(id string) ([]int, error) {
	_, group, err := n.findContainer(id)
	if err != nil {
		return nil, fmt.Errorf("find container %s on node %s: %w", id, n.Name(), err)
	}
	return n.Cgroups.PIDs(group)
}

// ContainerPID is the id of a container's first process; the container ID is containerd's.
func (n *Node) ContainerPID(id string) (int, error) {
	first, _, err := n.findContainer(id)
	if err != nil {
		return 0, fmt.Errorf("find container %s on node %s: %w", id, n.Name(), err)
	}
	return first, nil
}

// findContainer returns the first process of a container, and its cgroup.
func (n *Node) findContainer(id string) (pid int, group string, err error) {
	file := filepath.Join(n.Dir(), "state", "io.containerd.runtime.v2.task", "k8s.io", id, "init.pid")
	data, err := os.ReadFile(file) // #nosec G304 -- below the lab's state folder
	if err != nil {
		return 0, "", err
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(data))); err != nil {
		return 0, "", err
	}
	group, err = n.podCgroup(pid)
	return pid, group, err
}

// podCgroup returns the cgroup of a process of one of the node's pods. The id in a stale file may be someone else's
// by now: a process that is not below the pods' group is refused.
func (n *Node) podCgroup(pid int) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", fmt.Errorf("read the cgroup of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(data)) {
		// Each line is ID:CONTROLLERS:PATH.
		const fields = 3
		parts := strings.SplitN(strings.TrimSpace(line), ":", fields)
		if len(parts) == fields && strings.HasPrefix(parts[2], n.cgroup("pods")+"/") {
			return parts[2], nil
		}
	}
	return "", fmt.Errorf("process %d belongs to no pod", pid)
}
