package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
)

// private lists folders that containerd, the kubelet and the network plugins use whatever they are told. Each node
// has its own, mounted over the host's, so that nodes neither meet there nor leave anything on the host.
var private = []string{"/run/containerd", "/var/lib/kubelet", "/var/lib/cni", "/var/log/containers"}

// HostFolders lists the folders of the host that a node mounts its own over. The lab makes those that are missing.
func HostFolders() []string { return append([]string(nil), private...) }

// privateFolder returns the node's own folder behind one of the host's. What is below /run goes with the runtime's
// state.
func (n *Node) privateFolder(folder string) string {
	parent := "host"
	if strings.HasPrefix(folder, "/run/") {
		parent = "state"
	}
	return filepath.Join(n.Dir(), parent, folder)
}

// ErrOff is returned where a node must run and has no process.
var ErrOff = errors.New("the node is off")

// Process returns the id of a process that sees the node's mounts: an agent, or one that watches a container. If there
// is none, the error is ErrOff.
func (n *Node) Process() (int, error) {
	pids, err := n.Cgroups.PIDs(n.cgroup("agents"))
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		if _, err := os.Readlink(mountNamespace(pid)); err == nil {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("%s: %w", n.Name(), ErrOff)
}

func mountNamespace(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid), "ns", "mnt") }

// enter returns the command that enters the node's namespaces. The mount namespace lives as long as any of the
// node's processes, and is made anew when there is none: like a boot.
//
// The network namespace is not entered by "ip netns exec", which mounts a fresh /sys that hides the cgroups.
func (n *Node) enter() ([]string, error) {
	enter := []string{"nsenter", "--net=" + network.NamespaceFile(n.Name())}
	if pid, err := n.Process(); err == nil {
		return append(enter, "--mount="+mountNamespace(pid)), nil
	} else if !errors.Is(err, ErrOff) {
		return nil, err
	}
	var mounts strings.Builder
	// Pods may ask for mounts that the node sees too: shared within the node, but never with the host.
	mounts.WriteString("mount --make-rshared /; ")
	for _, folder := range private {
		fmt.Fprintf(&mounts, "mount --bind '%s' '%s' || exit 1; ", n.privateFolder(folder), folder)
	}
	mounts.WriteString(`exec "$@"`)
	return append(enter, "unshare", "--mount", "--propagation=slave", "/bin/sh", "-c", mounts.String(), "mounts"), nil
}
