package etcd

import (
	"context"
	"fmt"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// alarmsOf are the alarms in the errors of a Status reply.
func alarmsOf(errs []string) []plan.Alarm {
	var alarms []plan.Alarm
	for _, a := range etcdclient.Alarms(errs) {
		alarms = append(alarms, plan.Alarm{Kind: plan.AlarmKind(a.Kind), Member: a.Member})
	}
	return alarms
}

// Disarm takes an alarm back. It is no error if there is none.
func (s *Session) Disarm(ctx context.Context, a plan.Alarm) error {
	what := fmt.Sprintf("disarm the alarm %s of %016x", a.Kind, a.Member)
	return s.change(ctx, what, s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.Disarm(ctx, etcdclient.Alarm{Kind: string(a.Kind), Member: a.Member})
	})
}
