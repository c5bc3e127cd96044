package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/monitoring"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors;prometheusrules,verbs=get;list;create;patch;delete

// monitoringWithin is how long a write for Prometheus Operator may take: a webhook that hangs keeps no other cluster waiting.
const monitoringWithin = 2 * time.Second

// monitored is one of the objects that a cluster has with Prometheus Operator.
type monitored struct {
	kind schema.GroupVersionKind
	key  client.ObjectKey
	make func(*v1beta2.EtcdCluster) (*unstructured.Unstructured, error)
	// shared objects have several clusters as owners, others one as controller.
	shared bool
	// prefix of what is said of a refusal.
	prefix string
}

func monitoredBy(c *v1beta2.EtcdCluster) []monitored {
	return []monitored{
		{
			kind: resources.PodMonitorKind, key: client.ObjectKey{Namespace: c.Namespace, Name: resources.PodMonitorName(c.Name)},
			make:   func(c *v1beta2.EtcdCluster) (*unstructured.Unstructured, error) { return resources.PodMonitor(c), nil },
			prefix: "the members' PodMonitor, without which spec.monitoring.mode Off does: ",
		},
		{
			kind: resources.PrometheusRuleKind, key: client.ObjectKey{Namespace: c.Namespace, Name: resources.AlertsName},
			make: resources.ClusterAlerts, shared: true,
			prefix: "the alerts in PrometheusRule " + resources.AlertsName + ", without which spec.monitoring.mode Off does: ",
		},
	}
}

// applyMonitoring keeps what Prometheus Operator is to know of the cluster, where that is installed. It comes last in a pass, and writes only
// in one that changes nothing else: no member waits for it.
func (r *Reconciler) applyMonitoring(ctx context.Context, p *pass) error {
	c := p.observed.Cluster
	if r.Monitoring == nil || c.Paused || c.Deleting || p.assessment.NameTaken != nil || c.ID == 0 && c.Bootstrap == nil {
		return nil
	}
	for _, m := range monitoredBy(p.cluster) {
		if err := r.applyMonitored(ctx, p, m); err != nil {
			return fmt.Errorf("apply %s %s: %w", m.kind.Kind, m.key.Name, err)
		}
	}
	return nil
}

func (r *Reconciler) applyMonitored(ctx context.Context, p *pass, m monitored) error {
	wanted, found := resources.Monitored(p.cluster), r.Monitoring.Find(m.kind, m.key)
	if !found.Served || settled(found, p.cluster.UID, wanted) {
		return nil
	}
	if found.Object != nil && found.Object.Taken != "" {
		p.reject(v1beta2.ReasonMonitoringMissing, m.prefix+found.Object.Taken)
		return nil
	}
	target := plan.Target{Verb: "apply", Kind: m.kind.Kind, Name: m.key.Name}
	if p.Mutates() {
		r.stillRefused(p, target, m.prefix)
		return nil
	}
	err := r.writeBeside(ctx, p, sideWrite{target, v1beta2.ReasonMonitoringMissing, m.prefix}, func() error {
		if found.Refused != nil {
			return found.Refused
		}
		return r.writeMonitored(ctx, p, m, wanted)
	})
	switch {
	case errors.Is(err, errNameTaken):
		p.reject(v1beta2.ReasonMonitoringMissing, m.prefix+err.Error())
		return nil
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err), apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return nil // uninstalled, or written by the pass of another cluster: the next pass, or the next look, tells
	}
	return err
}

// stillRefused reports what was refused in an earlier pass, so that Degraded does not change while other things are done.
func (r *Reconciler) stillRefused(p *pass, target plan.Target, prefix string) {
	for _, known := range r.refusedBeside.of(p.key(), p.cluster.Generation, r.Clock.Now()) {
		if known.Target == target {
			p.reject(v1beta2.ReasonMonitoringMissing, prefix+known.Message)
		}
	}
}

// settled reports whether an object is as it should be, as far as is known.
func settled(found monitoring.Found, owner types.UID, wanted bool) bool {
	have := found.Object
	if !wanted {
		return have == nil || !resources.OwnedBy(have.Owners, owner)
	}
	return found.Refused == nil && have != nil && have.AsMade && resources.OwnedBy(have.Owners, owner)
}

// writeMonitored makes one write, or none if the object is as it should be. Clusters that share an object may write it at the same time.
func (r *Reconciler) writeMonitored(ctx context.Context, p *pass, m monitored, wanted bool) error {
	if err := r.confirm(ctx, p); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, monitoringWithin)
	defer cancel()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		have := &unstructured.Unstructured{}
		have.SetGroupVersionKind(m.kind)
		err := r.Live.Get(ctx, m.key, have)
		switch {
		case apierrors.IsNotFound(err) && !wanted:
			r.Monitoring.Note(m.kind, m.key, nil)
			return nil
		case apierrors.IsNotFound(err):
			return r.createMonitored(ctx, p, m)
		case err != nil:
			return err
		}
		if leave, err := r.foreignMonitored(p, m, have, wanted); leave || err != nil {
			return err
		}
		return r.changeMonitored(ctx, p, m, have, wanted)
	})
}

func (r *Reconciler) createMonitored(ctx context.Context, p *pass, m monitored) error {
	want, err := m.make(p.cluster)
	if err != nil {
		return err
	}
	owners := want.GetOwnerReferences()
	if err := r.Client.Create(ctx, want, client.FieldOwner(resources.FieldOwner)); err != nil {
		return err
	}
	r.Monitoring.Note(m.kind, m.key, &monitoring.Object{Owners: owners, AsMade: true})
	return nil
}

// foreignMonitored reports whether an object is to be left alone, because it is of a cluster of this name that was deleted, or somebody
// else's. If the latter is in the way, it is an error.
func (r *Reconciler) foreignMonitored(p *pass, m monitored, have *unstructured.Unstructured, wanted bool) (leave bool, err error) {
	conflict := conflictOf(m.kind.Kind, have, p.cluster)
	if m.shared && metav1.GetControllerOf(have) == nil && have.GetLabels()["app.kubernetes.io/managed-by"] == resources.FieldOwner {
		conflict = nil
	}
	if conflict == nil {
		return false, nil
	}
	if conflict.Terminating || !wanted {
		return true, nil
	}
	taken := fmt.Errorf("%w: %s belongs to %s: delete it, or give it another name", errNameTaken, have.GetName(), conflict.Owner)
	r.Monitoring.Note(m.kind, m.key, &monitoring.Object{Owners: have.GetOwnerReferences(), Taken: taken.Error()})
	return false, taken
}

// changeMonitored patches or deletes an object. Labels and annotations of others stay, and no other field does.
func (r *Reconciler) changeMonitored(ctx context.Context, p *pass, m monitored, have *unstructured.Unstructured, wanted bool) error {
	owners := have.GetOwnerReferences()
	if m.shared {
		owners = resources.CoOwners(owners, p.cluster, wanted)
	}
	if !wanted && (!m.shared || len(owners) == 0) {
		if err := reconcile.DeleteUnchanged(ctx, r.Client, have); err != nil {
			return err
		}
		r.Monitoring.Note(m.kind, m.key, nil)
		return nil
	}
	want, err := m.make(p.cluster)
	if err != nil {
		return err
	}
	metadata := map[string]any{"resourceVersion": have.GetResourceVersion(), "labels": want.GetLabels(), "ownerReferences": owners}
	body, err := encodePatch(have.GetUID(), metadata, map[string]any{"spec": resources.SpecPatch(have, want)})
	if err != nil {
		return err
	}
	if err := r.Client.Patch(ctx, have, client.RawPatch(types.MergePatchType, body), client.FieldOwner(resources.FieldOwner)); err != nil {
		return err
	}
	r.Monitoring.Note(m.kind, m.key, &monitoring.Object{Owners: owners, AsMade: true})
	return nil
}
