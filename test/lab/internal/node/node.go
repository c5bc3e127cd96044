package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/cgroup"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// Programs are the folders of the programs that a node runs.
type Programs struct {
	// Kubernetes holds kubelet and kube-proxy.
	Kubernetes string
	// Containerd holds containerd and its shim.
	Containerd string
	// CNI holds the network plugins.
	CNI string
}

// Node is one node of the lab.
type Node struct {
	// Number of the node, from 1, and of all Nodes.
	Number, Nodes int
	// State is the lab's folder.
	State state.Dir
	// Certs are the lab's certificates.
	Certs *pki.Authority
	// Cgroups of this machine.
	Cgroups cgroup.Host
	// Programs to run.
	Programs Programs
	// Registry is where all images come from.
	Registry string
}

// Agents are the processes of a node, in the order in which they start.
var agents = []string{"containerd", "kubelet", "kube-proxy"}

// Name of the node.
func (n *Node) Name() string { return network.NodeName(n.Number) }

// Dir holds all of the node's files.
func (n *Node) Dir() string { return n.State.Node(n.Name()) }

// cgroups of a node: one for its agents, one that its kubelet keeps the pods in.
func (n *Node) cgroup(parts ...string) string {
	return filepath.Join(append([]string{cgroup.Root, n.Name()}, parts...)...)
}

// StartRuntime makes the node's network, groups and files, and starts containerd. It needs no control plane.
func (n *Node) StartRuntime(ctx context.Context) error {
	if err := network.EnsureNode(ctx, n.Number, n.Nodes); err != nil {
		return fmt.Errorf("make the network of node %s: %w", n.Name(), err)
	}
	for _, group := range []string{"agents", "pods"} {
		if err := n.Cgroups.Create(n.cgroup(group)); err != nil {
			return err
		}
	}
	if err := n.makeFolders(); err != nil {
		return err
	}
	if err := n.writeConfig(); err != nil {
		return fmt.Errorf("write the configuration of node %s: %w", n.Name(), err)
	}
	record, err := n.ensure("containerd", filepath.Join(n.Programs.Containerd, "containerd"),
		"--config="+filepath.Join(n.Dir(), "containerd.toml"))
	if err != nil {
		return err
	}
	return record.WaitReady(ctx, func(ctx context.Context) error {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "unix", filepath.Join(n.Dir(), "containerd.sock"))
		if err != nil {
			return fmt.Errorf("dial containerd: %w", err)
		}
		return connection.Close()
	})
}

// StartAgents starts the kubelet and kube-proxy. The API must be there.
func (n *Node) StartAgents() error {
	_, err := n.ensure("kubelet", filepath.Join(n.Programs.Kubernetes, "kubelet"),
		"--config="+filepath.Join(n.Dir(), "kubelet.yaml"),
		"--kubeconfig="+n.kubeconfig(),
		// Its default, but the node's own: see private.
		"--root-dir=/var/lib/kubelet",
		"--hostname-override="+n.Name(),
		"--node-ip="+network.NodeIP(n.Number),
		// Each node is a zone, so that spreading over zones can be seen.
		"--node-labels=topology.kubernetes.io/region=lab,topology.kubernetes.io/zone="+n.Name(),
	)
	if err != nil {
		return err
	}
	_, err = n.ensure("kube-proxy", filepath.Join(n.Programs.Kubernetes, "kube-proxy"),
		"--kubeconfig="+controlplane.Kubeconfig(n.State, "kube-proxy"),
		"--proxy-mode=nftables",
		"--cluster-cidr="+network.PodCIDR,
		"--hostname-override="+n.Name(),
		"--conntrack-max-per-core=0",
		"--healthz-bind-address=127.0.0.1:10256",
	)
	return err
}

func (n *Node) kubeconfig() string { return controlplane.Kubeconfig(n.State, n.Name()) }

func (n *Node) component(agent string) string { return n.Name() + "-" + agent }

func (n *Node) recordFile(agent string) string {
	return filepath.Join(n.State.Run(), n.component(agent)+".json")
}

func (n *Node) ensure(agent string, args ...string) (process.Record, error) {
	enter, err := n.enter()
	if err != nil {
		return process.Record{}, err
	}
	return process.Ensure(process.Spec{
		Name:       n.component(agent),
		Args:       args,
		Path:       n.Programs.Containerd + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		Enter:      enter,
		Join:       n.Cgroups.ProcsFiles(n.cgroup("agents")),
		LogFile:    n.State.Log(n.component(agent)),
		RecordFile: n.recordFile(agent),
	})
}

func (n *Node) makeFolders() error {
	dirs := []string{n.Dir(), n.State.Volumes(n.Name())}
	for _, dir := range private {
		dirs = append(dirs, dir, n.privateFolder(dir))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- entered by containers
			return fmt.Errorf("make the folders of node %s: %w", n.Name(), err)
		}
	}
	return nil
}

func (n *Node) writeConfig() error {
	certificate := "kubelet-" + n.Name()
	err := n.Certs.EnsureCert(certificate, pki.Subject{
		CommonName: "system:node:" + n.Name(), Organization: "system:nodes",
		Hosts: []string{network.NodeIP(n.Number), n.Name()},
	})
	if err != nil {
		return err
	}
	if err := n.Certs.WriteKubeconfig(n.kubeconfig(), controlplane.Server, certificate); err != nil {
		return err
	}
	values := values{
		Dir: n.Dir(), CNIBin: n.Programs.CNI, PauseImage: PauseImage, Registry: n.Registry,
		PodCIDR: network.NodePods(n.Number), PodsCgroup: n.cgroup("pods"), DNS: network.DNSServiceIP,
		CACert: n.Certs.Cert("ca"), KubeletCert: n.Certs.Cert(certificate), KubeletKey: n.Certs.Key(certificate),
	}
	for file, template := range templates {
		data, err := render(template, values)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(n.Dir(), file), data); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { // #nosec G301 -- holds no secret
		return fmt.Errorf("make the folder of %s: %w", filepath.Base(file), err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil { // #nosec G306 -- holds no secret
		return fmt.Errorf("write %s: %w", filepath.Base(file), err)
	}
	return nil
}

// StopAgents ends the kubelet, kube-proxy and containerd in an orderly way; the containers run on.
func (n *Node) StopAgents(ctx context.Context) error {
	records, err := n.records()
	if err != nil {
		return err
	}
	const grace = 10 * time.Second
	return process.Stop(ctx, grace, records...)
}

// Kill ends all processes of the node at once, as a power cut does.
func (n *Node) Kill(ctx context.Context) error { return n.Cgroups.Kill(ctx, n.cgroup()) }

// Running lists the agents that run.
func (n *Node) Running() ([]string, error) {
	records, err := n.records()
	if err != nil {
		return nil, err
	}
	var running []string
	for _, record := range records {
		if record.Alive() {
			running = append(running, record.Name)
		}
	}
	return running, nil
}

// Complete says whether all agents of the node run.
func (n *Node) Complete() (bool, error) {
	running, err := n.Running()
	return len(running) == len(agents), err
}

func (n *Node) records() ([]process.Record, error) {
	var records []process.Record
	for _, agent := range agents {
		record, err := process.Read(n.recordFile(agent))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// CleanAfterKill does what a reboot does for a machine that lost its power: what lives in /run is gone, the disk is as
// it was. It does nothing while any process of the node runs. The mounts went with the last process.
func (n *Node) CleanAfterKill(ctx context.Context) error {
	pids, err := n.Cgroups.PIDs(n.cgroup())
	if err != nil || len(pids) > 0 {
		return err
	}
	if err := os.RemoveAll(filepath.Join(n.Dir(), "state")); err != nil {
		return fmt.Errorf("clear the runtime state of node %s: %w", n.Name(), err)
	}
	// The kernel lets go of a dead process's cgroup a moment after the process is gone from its list.
	return process.Poll(ctx, func(context.Context) error { return n.Cgroups.Remove(n.cgroup()) })
}

// SignalContainer sends a signal to all processes of one container that runs on the node; the container ID is
// containerd's.
func (n *Node) SignalContainer(id string, signal syscall.Signal) error {
	pids, err := n.containerPIDs(id)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal process %d of container %s: %w", pid, id, err)
		}
	}
	return nil
}
