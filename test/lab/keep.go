package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// keepInterval is how often Keep looks.
const keepInterval = time.Second

// Keep starts the scheduler and the controller manager again when they end, and writes a line about each, until the context
// ends. Elsewhere the kubelet does that. The scheduler may end by itself some time after an outage of the API server. What
// Faults ends stays ended.
func (l *Lab) Keep(ctx context.Context, out io.Writer) error {
	ticker := time.NewTicker(keepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		for _, name := range []string{controlplane.ControllerManager, controlplane.Scheduler} {
			if err := l.keep(name, out); err != nil {
				return err
			}
		}
	}
}

// keep starts a component that has ended, if the API server that it needs runs.
func (l *Lab) keep(name string, out io.Writer) error {
	l.parts.Lock()
	defer l.parts.Unlock()
	server, err := process.Read(l.recordFile(controlplane.APIServer))
	if err != nil || !server.Alive() {
		return err
	}
	record, err := process.Read(l.recordFile(name))
	if err != nil || record.Alive() {
		return err
	}
	_, err = fmt.Fprintf(out, "%s has ended, and is started again%s\n", name, process.LogTail(record.LogFile))
	return errors.Join(err, l.plane().StartClient(name))
}
