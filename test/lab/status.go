package lab

import (
	"context"
	"fmt"
	"net/http"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// Component is one process of the lab.
type Component struct {
	// Name of the component, such as kube-apiserver or n1-kubelet.
	Name string
	// PID is its process id, 0 if it was never started.
	PID int
	// Alive says whether it runs.
	Alive bool
	// LogFile gets what it prints.
	LogFile string
}

// NodeStatus is how one node is, seen from outside.
type NodeStatus struct {
	// Name of the node.
	Name string
	// Connected says whether its cable is plugged in.
	Connected bool
	// PartitionedFrom lists the nodes that it is cut off from.
	PartitionedFrom []string
	// SilentTo lists the nodes that its packets do not reach, though theirs reach it.
	SilentTo []string
	// Slow says whether its link is slow or lossy.
	Slow bool
}

// Status is how the lab is.
type Status struct {
	// API is nil if the Kubernetes API is ready, and says why not otherwise.
	API error
	// Components of the control plane and the nodes.
	Components []Component
	// Nodes of the lab.
	Nodes []NodeStatus
}

// Healthy says whether everything runs and nothing is cut off.
func (s Status) Healthy() bool {
	for _, component := range s.Components {
		if !component.Alive {
			return false
		}
	}
	for _, node := range s.Nodes {
		if !node.Connected || len(node.PartitionedFrom) > 0 || len(node.SilentTo) > 0 || node.Slow {
			return false
		}
	}
	return s.API == nil
}

// Status looks at all processes and nodes of the lab.
func (l *Lab) Status(ctx context.Context) (Status, error) {
	status := Status{}
	for _, name := range l.components() {
		component := Component{Name: name, LogFile: l.state.Log(name)}
		if record, err := process.Read(l.recordFile(name)); err == nil {
			component.PID, component.Alive = record.PID, record.Alive()
		}
		status.Components = append(status.Components, component)
	}
	for _, name := range l.Nodes() {
		// A node whose network is gone is not connected; that is a finding, not a failure.
		connected, err := network.Linked(ctx, name)
		cutOff, silentTo, partitionErr := network.Partitions(ctx, name)
		if partitionErr != nil {
			return Status{}, partitionErr
		}
		_, slowErr := process.Read(l.recordFile(linkComponent(name)))
		status.Nodes = append(status.Nodes, NodeStatus{
			Name: name, Connected: err == nil && connected, PartitionedFrom: cutOff, SilentTo: silentTo,
			Slow: slowErr == nil,
		})
	}
	var client *http.Client
	if client, status.API = controlplane.Client(l.certs); status.API == nil {
		status.API = controlplane.Ready(ctx, client)
	}
	return status, nil
}

// components lists the names of all processes of the lab.
func (l *Lab) components() []string {
	names := []string{
		controlplane.Etcd, controlplane.APIServer, controlplane.ControllerManager, controlplane.Scheduler, "registry",
		resizerComponent,
	}
	for _, name := range l.Nodes() {
		for _, agent := range []string{"containerd", "kubelet", "kube-proxy"} {
			names = append(names, fmt.Sprintf("%s-%s", name, agent))
		}
	}
	return append(names, l.optionalComponents()...)
}
