package etcd

import (
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
