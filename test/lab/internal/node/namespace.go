package node

import (
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

// enter returns the command that enters the node's namespaces. The mount namespace lives as long as any of the
// node's processes, and is made anew when there is none: like a boot.
//
// The network namespace is not entered by "ip netns exec", which mounts a fresh /sys that hides the cgroups.
func (n *Node) enter() ([]string, error) {
	enter := []string{"nsenter", "--net=" + network.NamespaceFile(n.Name())}
	pids, err := n.Cgroups.PIDs(n.cgroup("agents"))
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		namespace := filepath.Join("/proc", strconv.Itoa(pid), "ns", "mnt")
		if _, err := os.Readlink(namespace); err == nil {
			return append(enter, "--mount="+namespace), nil
		}
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
