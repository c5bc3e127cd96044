package etcdcluster

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// logRequests are the requests to log an observation that were already met, so that each is met once, and once more after a restart of
// the operator. The zero value is empty. It is safe for concurrent use.
type logRequests struct {
	met sync.Map // request by types.NamespacedName
}

// request is the value of the annotation on one object.
type request struct {
	uid   types.UID
	value string
}

// take reports whether there is a request that was not met yet, and marks it as met.
func (r *logRequests) take(c *v1beta2.EtcdCluster) bool {
	value, asked := c.Annotations[v1beta2.AnnotationLogObserved]
	if !asked {
		r.forget(client.ObjectKeyFromObject(c))
		return false
	}
	now := request{c.UID, value}
	before, _ := r.met.Swap(client.ObjectKeyFromObject(c), now)
	return before != now
}

func (r *logRequests) forget(cluster types.NamespacedName) { r.met.Delete(cluster) }

// logObserved logs the observation that this pass was decided on, if that is requested, and records an event: users who may annotate
// a cluster may not be those who read the operator's log.
func (r *Reconciler) logObserved(ctx context.Context, p *pass) {
	if !r.logRequests.take(p.cluster) {
		return
	}
	emit := func(kind, reason, note string) {
		reconcile.Emit(r.Recorder, p.cluster, kind, reason, "LogObserved", note)
	}
	logger := log.FromContext(ctx)
	if !logger.Enabled() {
		emit(corev1.EventTypeWarning, v1beta2.ReasonObservationNotLogged, "the annotation "+v1beta2.AnnotationLogObserved+
			" asks the operator to log what it observes, but its log level is error: start it with --zap-log-level=info")
		return
	}
	line, err := replay.Pass{
		Version: version.Operator, Live: p.live, Decided: plan.Describe(p.action), Observed: p.observed,
	}.Encode()
	if err != nil { // plain data has none
		logger.Error(err, "cannot encode what was observed")
		return
	}
	// The logger drops most lines of the same message if there are many in a second.
	logger.Info(fmt.Sprintf("observed of EtcdCluster %s", p.key()), replay.Field, line)
	emit(corev1.EventTypeNormal, v1beta2.ReasonObservationLogged, "the operator has logged what it observes: look for the line "+
		`with the field "`+replay.Field+`" and this cluster's name`)
}
