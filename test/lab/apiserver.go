package lab

import (
	"context"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// StopAPIServer ends the Kubernetes API server with SIGKILL. Its etcd, the other parts of the control plane and the
// nodes run on without it. StartAPIServer undoes it.
func (f Faults) StopAPIServer(ctx context.Context) error {
	record, err := process.Read(f.lab.recordFile(controlplane.APIServer))
	if err != nil {
		return err
	}
	return process.Kill(ctx, record)
}

// StartAPIServer starts the Kubernetes API server on the data that it had, and what else of the control plane is dead,
// and returns when the API is ready. If all runs, it does nothing.
func (f Faults) StartAPIServer(ctx context.Context) error { return f.lab.startControlPlane(ctx) }
