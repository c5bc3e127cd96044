package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/node"
)

// KillNode ends all processes of a node at once, its containers included, as a power cut does. HealNode boots it. Slow
// disks of the node get fast: the kernel lets go of no process that waits for one.
func (l *Lab) KillNode(ctx context.Context, name string) error {
	node, err := l.node(name)
	if err != nil {
		return err
	}
	if err := l.eachDisk(name, func(disk string) error { return l.FastDisk(ctx, disk) }); err != nil {
		return err
	}
	return node.Kill(ctx)
}

// StopNode ends the node's kubelet, kube-proxy and containerd in an orderly way. Its containers run on, unwatched.
// HealNode starts the agents again.
func (l *Lab) StopNode(ctx context.Context, name string) error {
	node, err := l.node(name)
	if err != nil {
		return err
	}
	return node.StopAgents(ctx)
}

// IsolateNode pulls the node's cable: nothing reaches it or its pods, and they reach nothing. HealNode plugs it in.
func (l *Lab) IsolateNode(ctx context.Context, name string) error {
	if _, err := l.node(name); err != nil {
		return err
	}
	return network.SetLink(ctx, name, false)
}

// PartitionNodes drops all packets between two nodes and their pods; both still reach all others. HealNode of either
// ends it.
func (l *Lab) PartitionNodes(ctx context.Context, a, b string) error {
	first, second, err := l.pair(a, b)
	if err != nil {
		return err
	}
	return network.Partition(ctx, first, second)
}

// PartitionOneWay drops all packets that one node and its pods send to another and its pods. What the other sends
// still arrives, so connections stall rather than fail. HealNode of either ends it.
func (l *Lab) PartitionOneWay(ctx context.Context, from, to string) error {
	sender, receiver, err := l.pair(from, to)
	if err != nil {
		return err
	}
	return network.Silence(ctx, sender, receiver)
}

// pair returns the numbers of two different nodes.
func (l *Lab) pair(a, b string) (first, second int, err error) {
	one, err := l.node(a)
	if err != nil {
		return 0, 0, err
	}
	other, err := l.node(b)
	if err != nil {
		return 0, 0, err
	}
	if one == other {
		return 0, 0, errors.New("a partition is between two different nodes")
	}
	return one.Number, other.Number, nil
}

// HealNode undoes whatever was done to a node: it is plugged in, its link is fast, its partitions end, its agents run,
// and its disks are mounted, fast and not filled. It returns once the agents are started; Kubernetes needs a few seconds more to call the node Ready.
func (l *Lab) HealNode(ctx context.Context, name string) error {
	node, err := l.node(name)
	if err != nil {
		return err
	}
	if err := network.SetLink(ctx, name, true); err != nil {
		return err
	}
	if err := l.FastLink(ctx, name); err != nil {
		return err
	}
	if err := network.Unpartition(ctx, l.Nodes(), name); err != nil {
		return err
	}
	if err := node.CleanAfterKill(ctx); err != nil {
		return err
	}
	if err := node.StartRuntime(ctx); err != nil {
		return err
	}
	if err := l.mountDisks(ctx, name); err != nil {
		return err
	}
	err = l.eachDisk(name, func(disk string) error {
		return errors.Join(l.FastDisk(ctx, disk), l.FreeDisk(ctx, disk))
	})
	if err != nil {
		return err
	}
	return node.StartAgents()
}

// KillContainer ends all processes of a container with SIGKILL. The container is given as NAMESPACE/POD/CONTAINER.
func (l *Lab) KillContainer(ctx context.Context, container string) error {
	return l.signalContainer(ctx, container, syscall.SIGKILL)
}

// FreezeContainer stops all processes of a container with SIGSTOP: they keep their connections, and say nothing.
func (l *Lab) FreezeContainer(ctx context.Context, container string) error {
	return l.signalContainer(ctx, container, syscall.SIGSTOP)
}

// ThawContainer lets a frozen container go on.
func (l *Lab) ThawContainer(ctx context.Context, container string) error {
	return l.signalContainer(ctx, container, syscall.SIGCONT)
}

func (l *Lab) signalContainer(ctx context.Context, container string, signal syscall.Signal) error {
	const parts = 3
	names := strings.Split(container, "/")
	if len(names) != parts {
		return fmt.Errorf("%q is not NAMESPACE/POD/CONTAINER", container)
	}
	node, id, err := l.findContainer(ctx, names[0], names[1], names[2])
	if err != nil {
		return err
	}
	return node.SignalContainer(id, signal)
}

// findContainer returns the node that a container runs on, and containerd's ID of it.
func (l *Lab) findContainer(ctx context.Context, namespace, pod, container string) (*node.Node, string, error) {
	data, err := l.kubectl(ctx, nil, "get", "pod", pod, "--namespace="+namespace, "--output=json")
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
			node, err := l.node(found.Spec.NodeName)
			return node, strings.TrimPrefix(status.ContainerID, "containerd://"), err
		}
	}
	return nil, "", fmt.Errorf("pod %s/%s has no running container %q", namespace, pod, container)
}
