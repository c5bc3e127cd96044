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

// requests are those for what is observed of a cluster that were met, so that each is met once. After a restart of the operator
// it is once more. The zero value knows of none. It is safe for concurrent use.
type requests struct {
	met sync.Map // request by types.NamespacedName
}

// request is the value of the annotation on one object.
type request struct {
	uid   types.UID
	value string
}

// take reports whether there is a request that was not met yet, and counts it as met.
func (r *requests) take(c *v1beta2.EtcdCluster) bool {
	value, asked := c.Annotations[v1beta2.AnnotationLogObserved]
	if !asked {
		r.forget(client.ObjectKeyFromObject(c))
		return false
	}
	now := request{c.UID, value}
	before, _ := r.met.Swap(client.ObjectKeyFromObject(c), now)
	return before != now
}

func (r *requests) forget(cluster types.NamespacedName) { r.met.Delete(cluster) }

// logObserved writes what the answer of this pass follows from to the log, if that is asked for, and says so in an event: whoever
// may annotate a cluster is not always who may read the operator's log.
func (r *Reconciler) logObserved(ctx context.Context, p *pass) {
	if !r.requests.take(p.cluster) {
		return
	}
	tell := func(kind, reason, note string) {
		reconcile.Emit(r.Recorder, p.cluster, kind, reason, "LogObserved", note)
	}
	logger := log.FromContext(ctx)
	if !logger.Enabled() {
		tell(corev1.EventTypeWarning, v1beta2.ReasonObservationNotLogged, "the annotation "+v1beta2.AnnotationLogObserved+
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
	// Of lines with the same message the log leaves out most if there are many in a second.
	logger.Info(fmt.Sprintf("observed of EtcdCluster %s", client.ObjectKeyFromObject(p.cluster)), replay.Field, line)
	tell(corev1.EventTypeNormal, v1beta2.ReasonObservationLogged, "the operator has logged what it observes: look for the line "+
		`with the field "`+replay.Field+`" and this cluster's name`)
}
