package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/disk"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/node"
)

// Faults breaks a lab's nodes, links, containers, volumes, images, API server and clock, and heals them. Disks and
// addons have faults of their own.
type Faults struct{ lab *Lab }

// Faults returns what breaks the lab.
func (l *Lab) Faults() Faults { return Faults{l} }

// KillNode ends all processes of a node at once, its containers included, as a power cut does. HealNode boots it. Slow
// disks of the node get fast: the kernel lets go of no process that waits for one.
func (f Faults) KillNode(ctx context.Context, name string) error {
	node, err := f.lab.node(name)
	if err != nil {
		return err
	}
	if err := f.lab.Disks().each(name, func(disk string) error { return f.lab.Disks().Fast(ctx, disk) }); err != nil {
		return err
	}
	return node.Kill(ctx)
}

// StopNode ends the node's kubelet, kube-proxy and containerd in an orderly way. Its containers run on, unwatched.
// HealNode starts the agents again.
func (f Faults) StopNode(ctx context.Context, name string) error {
	node, err := f.lab.node(name)
	if err != nil {
		return err
	}
	return node.StopAgents(ctx)
}

// IsolateNode pulls the node's cable: nothing reaches it or its pods, and they reach nothing. HealNode plugs it in.
func (f Faults) IsolateNode(ctx context.Context, name string) error {
	if _, err := f.lab.node(name); err != nil {
		return err
	}
	return network.SetLink(ctx, name, false)
}

// PartitionNodes drops all packets between two nodes and their pods; both still reach all others. HealNode of either
// ends it.
func (f Faults) PartitionNodes(ctx context.Context, a, b string) error {
	first, second, err := f.pair(a, b)
	if err != nil {
		return err
	}
	return network.Partition(ctx, first, second)
}

// PartitionOneWay drops all packets that one node and its pods send to another and its pods. What the other sends
// still arrives, so connections stall rather than fail. HealNode of either ends it.
func (f Faults) PartitionOneWay(ctx context.Context, from, to string) error {
	sender, receiver, err := f.pair(from, to)
	if err != nil {
		return err
	}
	return network.Silence(ctx, sender, receiver)
}

// pair returns the numbers of two different nodes.
func (f Faults) pair(a, b string) (first, second int, err error) {
	one, err := f.lab.node(a)
	if err != nil {
		return 0, 0, err
	}
	other, err := f.lab.node(b)
	if err != nil {
		return 0, 0, err
	}
	if one == other {
		return 0, 0, errors.New("a partition is between two different nodes")
	}
	return one.Number, other.Number, nil
}

// HealNode undoes whatever was done to a node: it is plugged in, its link is fast, its partitions end, its agents run,
// and its disks are mounted, fast and not filled. It returns once the agents are started; Kubernetes needs a few
// seconds more to call the node Ready.
func (f Faults) HealNode(ctx context.Context, name string) error {
	node, err := f.lab.node(name)
	if err != nil {
		return err
	}
	if err := network.SetLink(ctx, name, true); err != nil {
		return err
	}
	if err := f.FastLink(ctx, name); err != nil {
		return err
	}
	if err := network.Unpartition(ctx, f.lab.Nodes(), name); err != nil {
		return err
	}
	if err := node.CleanAfterKill(ctx); err != nil {
		return err
	}
	if err := node.StartRuntime(ctx); err != nil {
		return err
	}
	if err := f.lab.Disks().mountAll(ctx, name); err != nil {
		return err
	}
	err = f.lab.Disks().each(name, func(disk string) error {
		return errors.Join(f.lab.Disks().Fast(ctx, disk), f.lab.Disks().Free(ctx, disk))
	})
	if err != nil {
		return err
	}
	return node.StartAgents()
}

// KillContainer ends all processes of a container with SIGKILL. The container is given as NAMESPACE/POD/CONTAINER.
func (f Faults) KillContainer(ctx context.Context, container string) error {
	return f.signalContainer(ctx, container, syscall.SIGKILL)
}

// FreezeContainer stops all processes of a container with SIGSTOP: they keep their connections, and say nothing.
func (f Faults) FreezeContainer(ctx context.Context, container string) error {
	return f.signalContainer(ctx, container, syscall.SIGSTOP)
}

// ThawContainer lets a frozen container go on.
func (f Faults) ThawContainer(ctx context.Context, container string) error {
	return f.signalContainer(ctx, container, syscall.SIGCONT)
}

// ContainerRoot returns the path through which the host sees the files of a running container, given as
// NAMESPACE/POD/CONTAINER, with its volumes. It holds for as long as the container runs.
func (l *Lab) ContainerRoot(ctx context.Context, container string) (string, error) {
	node, id, err := l.Faults().findContainer(ctx, container)
	if err != nil {
		return "", err
	}
	pid, err := node.ContainerPID(id)
	return disk.Root(pid), err
}

func (f Faults) signalContainer(ctx context.Context, container string, signal syscall.Signal) error {
	node, id, err := f.findContainer(ctx, container)
	if err != nil {
		return err
	}
	return node.SignalContainer(id, signal)
}

// findContainer returns the node that a container, given as NAMESPACE/POD/CONTAINER, runs on, and containerd's ID of it.
func (f Faults) findContainer(ctx context.Context, name string) (*node.Node, string, error) {
	const parts = 3
	names := strings.Split(name, "/")
	if len(names) != parts {
		return nil, "", fmt.Errorf("%q is not NAMESPACE/POD/CONTAINER", name)
	}
	namespace, pod, container := names[0], names[1], names[2]
	data, err := f.lab.kubectl(ctx, nil, "get", "pod", pod, "--namespace="+namespace, "--output=json")
	if err != nil {
		return nil, "", err
	}
	type status struct {
		Name        string `json:"name"`
		ContainerID string `json:"containerID"`
		State       struct {
			Running *struct{} `json:"running"`
		} `json:"state"`
	}
	var found struct {
		Spec struct {
			NodeName string `json:"nodeName"`
		} `json:"spec"`
		Status struct {
			ContainerStatuses     []status `json:"containerStatuses"`
			InitContainerStatuses []status `json:"initContainerStatuses"`
		} `json:"status"`
	}
	if err := json.Unmarshal(data, &found); err != nil {
		return nil, "", fmt.Errorf("decode pod %s/%s: %w", namespace, pod, err)
	}
	for _, status := range append(found.Status.ContainerStatuses, found.Status.InitContainerStatuses...) {
		if status.Name == container && status.State.Running != nil {
			node, err := f.lab.node(found.Spec.NodeName)
			return node, strings.TrimPrefix(status.ContainerID, "containerd://"), err
		}
	}
	return nil, "", fmt.Errorf("pod %s/%s has no running container %q", namespace, pod, container)
}
