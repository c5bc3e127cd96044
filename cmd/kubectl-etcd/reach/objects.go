package reach

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/autopilot"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
)

// Namespace is the one that is looked at.
func (a *Access) Namespace() string { return a.namespace }

// Create creates an object, which gets the namespace. With dry, the API server says what it would do, and does nothing.
func (a *Access) Create(ctx context.Context, object client.Object, dry bool) error {
	object.SetNamespace(a.namespace)
	var options []client.CreateOption
	if dry {
		options = append(options, client.DryRunAll)
	}
	return a.client.Create(ctx, object, options...)
}

// Get reads an object of that name.
func (a *Access) Get(ctx context.Context, name string, object client.Object) error {
	return a.client.Get(ctx, client.ObjectKey{Namespace: a.namespace, Name: name}, object)
}

// Object reads an EtcdCluster. The error is for a person.
func (a *Access) Object(ctx context.Context, name string) (*v1beta2.EtcdCluster, error) {
	cluster := &v1beta2.EtcdCluster{}
	if err := a.Get(ctx, name, cluster); err != nil {
		return nil, a.explain(ctx, name, err)
	}
	return cluster, nil
}

// Events are those about an EtcdCluster that Kubernetes still has; nil with an error only.
func (a *Access) Events(ctx context.Context, c *v1beta2.EtcdCluster) ([]autopilot.Event, error) {
	list := &corev1.EventList{}
	about := client.MatchingFields{"involvedObject.uid": string(c.UID)}
	if err := a.client.List(ctx, list, client.InNamespace(a.namespace), about); err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	all := []autopilot.Event{}
	for _, e := range list.Items {
		all = append(all, autopilot.Event{Time: when(e), Reason: e.Reason, Message: e.Message})
	}
	return all, nil
}

// GenerateName is what the name of an object begins with that is about a cluster. The API server adds five characters, and the whole is the
// value of a label.
func GenerateName(cluster, what string) string {
	const most, added = 63, 5
	what = "-" + what + "-"
	return strings.TrimRight(cluster[:min(most-added-len(what), len(cluster))], "-.") + what
}

// Backups are the EtcdBackups of a cluster, which need not exist, or all of the namespace if it is empty; nil with an error only.
func (a *Access) Backups(ctx context.Context, cluster string) ([]v1beta2.EtcdBackup, error) {
	list := &v1beta2.EtcdBackupList{}
	if err := a.client.List(ctx, list, client.InNamespace(a.namespace)); err != nil {
		return nil, fmt.Errorf("list EtcdBackups: %w", err)
	}
	out := []v1beta2.EtcdBackup{}
	for _, b := range list.Items {
		if cluster == "" || b.Spec.EtcdCluster != nil && b.Spec.EtcdCluster.Name == cluster {
			out = append(out, b)
		}
	}
	return out, nil
}

// OperatorDown says that the operator of an object does not run, as its Lease shows to the doctor; empty if it does, or if that cannot be
// known.
func (a *Access) OperatorDown(ctx context.Context, operator *v1beta2.OperatorReference) string {
	if operator == nil {
		return ""
	}
	lease, err := a.lease(ctx, operator)
	if err != nil {
		return "" // most users may not read it
	}
	return down(operator.Namespace, lease, time.Now())
}

func down(namespace string, lease doctor.Lease, now time.Time) string {
	switch {
	case lease.Alive(now):
		return ""
	case !lease.Exists || lease.Holder == "":
		return fmt.Sprintf("the operator in namespace %s does not run", namespace)
	default:
		return fmt.Sprintf("the operator in namespace %s has not been heard of since %s", namespace, lease.Renewed.UTC().Format(time.RFC3339))
	}
}
