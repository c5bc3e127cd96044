package reach

import (
	"context"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
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

// operatorLate is how long ago an operator that runs has renewed its Lease at most: some times what it takes itself, as the clocks of two
// machines may differ.
const operatorLate = time.Minute

// OperatorDown says that the operator of an object does not run, as its Lease shows; empty if it does, or if that cannot be known.
func (a *Access) OperatorDown(ctx context.Context, operator *v1beta2.OperatorReference) string {
	if operator == nil {
		return ""
	}
	lease := &coordinationv1.Lease{}
	if err := a.client.Get(ctx, client.ObjectKey{Namespace: operator.Namespace, Name: operator.Lease}, lease); err != nil {
		return "" // most users may not read it
	}
	return down(operator.Namespace, lease, time.Now())
}

func down(namespace string, lease *coordinationv1.Lease, now time.Time) string {
	renewed := lease.Spec.RenewTime
	switch {
	case renewed == nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "":
		return fmt.Sprintf("the operator in namespace %s does not run", namespace)
	case now.Sub(renewed.Time) > operatorLate:
		return fmt.Sprintf("the operator in namespace %s has not been heard of since %s", namespace, renewed.UTC().Format(time.RFC3339))
	default:
		return ""
	}
}
