// Package backup is "kubectl etcd backup": backups at once, and lists of those that there are.
package backup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/follow"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
)

// choose is the EtcdBackup whose storage and keys are used: the one of that name, or the only one that the cluster has.
func choose(cluster string, all []v1beta2.EtcdBackup, name string) (*v1beta2.EtcdBackup, error) {
	fit := slices.DeleteFunc(slices.Clone(all), func(b v1beta2.EtcdBackup) bool { return b.Spec.Storage == nil || !b.DeletionTimestamp.IsZero() })
	if name == "" {
		// Those that are taken once are copies of others, more often than not.
		if scheduled := slices.DeleteFunc(slices.Clone(fit), once); len(scheduled) > 0 {
			fit = scheduled
		}
		switch {
		case len(all) == 0:
			return nil, fmt.Errorf("%s has no EtcdBackup whose storage and credentials could be used: create one that says where to "+
				"(docs/backup-and-restore.md); without a schedule it is taken at once", cluster)
		case len(fit) == 1:
			return &fit[0], nil
		case len(fit) > 1:
			return nil, fmt.Errorf("%s has several EtcdBackups: say with --from whose storage and credentials to use: %s", cluster, names(fit))
		}
		name = all[0].Name
	}
	i := slices.IndexFunc(all, func(b v1beta2.EtcdBackup) bool { return b.Name == name })
	switch {
	case i < 0:
		return nil, fmt.Errorf("%s has no EtcdBackup %s, but %s", cluster, name, orNone(names(all)))
	case all[i].Spec.Storage == nil:
		return nil, fmt.Errorf("EtcdBackup %s says where to in the way of coreos/etcd-operator, in which a backup that is taken once replaces "+
			"the object at its path: create an EtcdBackup with spec.storage", name)
	case !all[i].DeletionTimestamp.IsZero():
		return nil, fmt.Errorf("EtcdBackup %s is being deleted", name)
	}
	return &all[i], nil
}

// once reports whether an EtcdBackup takes a single one.
func once(b v1beta2.EtcdBackup) bool {
	p := b.Spec.BackupPolicy
	return strings.TrimSpace(b.Spec.Schedule) == "" && (p == nil || p.IntervalSeconds == 0 && p.LegacyInterval == 0)
}

// like is an EtcdBackup that is taken once, at once, as the other one is, and that keeps what it has taken.
func like(b *v1beta2.EtcdBackup) *v1beta2.EtcdBackup {
	spec := b.Spec.DeepCopy()
	spec.Schedule, spec.TimeZone, spec.Suspend, spec.DeletionPolicy, spec.BackupPolicy = "", "", false, v1beta2.DeletionRetain, nil
	if p := b.Spec.BackupPolicy; p != nil && (p.TimeoutSeconds != 0 || p.LegacyTimeout != 0) {
		spec.BackupPolicy = &v1beta2.BackupPolicy{TimeoutSeconds: p.TimeoutSeconds, LegacyTimeout: p.LegacyTimeout}
	}
	return &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{GenerateName: reach.GenerateName(b.Spec.EtcdCluster.Name, "now")},
		Spec:       *spec,
	}
}

// step is how far an EtcdBackup is that is taken once.
func step(b *v1beta2.EtcdBackup) follow.Step {
	done := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionBackedUp)
	doing := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionProgressing)
	accepted := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionAccepted)
	s := follow.Step{Begun: doing != nil}
	switch {
	case done != nil && done.Status == metav1.ConditionTrue:
		s.Done = true
	case doing == nil:
	case doing.Status == metav1.ConditionFalse && accepted != nil && accepted.Status == metav1.ConditionFalse:
		s.Done, s.Problem = true, because(accepted)
	case doing.Status == metav1.ConditionFalse && done != nil && done.Status == metav1.ConditionFalse:
		s.Done, s.Problem = true, because(done)
	case doing.Status == metav1.ConditionFalse:
		s.Done, s.Problem = true, because(doing)
	default:
		s.Reason, s.Message = doing.Reason, doing.Message
		if doing.Reason == v1beta2.ReasonWaitingForRetry && done != nil {
			s.Message += ": " + done.Message
		}
	}
	return s
}

func because(c *metav1.Condition) error { return errors.New(c.Reason + ": " + c.Message) }

func names(all []v1beta2.EtcdBackup) string {
	var out []string
	for _, b := range all {
		out = append(out, b.Name)
	}
	return strings.Join(out, ", ")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
