package lab

import (
	"context"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// StopAPIServer ends the Kubernetes API server with SIGKILL, and with it the controller manager and the scheduler: elsewhere they are
// elected, and end when they cannot renew their lease for 10 s. If they went on here, they would act on what they saw last after the API
// server is back, as their watches then pause for up to 30 s: they would take nodes for lost, and evict their pods. Its etcd and the nodes
// run on. StartAPIServer undoes it.
func (f Faults) StopAPIServer(ctx context.Context) error {
	f.lab.parts.Lock()
	defer f.lab.parts.Unlock()
	for _, name := range []string{controlplane.APIServer, controlplane.ControllerManager, controlplane.Scheduler} {
		record, err := process.Read(f.lab.recordFile(name))
		if err != nil {
			return err
		}
		if err := process.Kill(ctx, record); err != nil {
			return err
		}
	}
	return nil
}

// StartAPIServer starts the Kubernetes API server on the data that it had, and what else of the control plane is dead,
// and returns when the API is ready. If all runs, it does nothing.
func (f Faults) StartAPIServer(ctx context.Context) error { return f.lab.startControlPlane(ctx) }
