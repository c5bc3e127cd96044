package etcdcluster

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/clusterspec"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

const (
	// keepConnectionsFor is the longest pause over which connections to etcd are kept.
	keepConnectionsFor = 10 * time.Second
	// diskWatchInterval is the time to the next pass while disks are watched.
	diskWatchInterval = 2 * time.Second
	// alarmInterval is the time to the next pass while etcd has an alarm: whoever mends it wants to see that it is gone.
	alarmInterval = 5 * time.Second
)

func (r *Reconciler) finish(ctx context.Context, p *pass, err error) (ctrl.Result, error) {
	defer p.export()
	key := p.key()
	if !plan.Mutates(p.action) {
		r.refusals.lapse(key, p.observed.Now)
	}
	switch {
	case errors.Is(err, errNameTaken):
		p.action, err = plan.Blocked{Reason: v1beta2.ReasonNameTaken, Message: err.Error()}, nil
	case reconcile.Terminating(err):
		p.action, err = plan.Wait{
			Reason: v1beta2.ReasonTerminating, Message: reconcile.NamespaceEnds, After: reconcile.Heartbeat,
		}, nil
	case errors.Is(err, etcd.ErrNotYet):
		p.action, err = plan.Wait{
			Reason: v1beta2.ReasonWaitingForEtcd, Message: err.Error(), After: reconcile.NotYet,
		}, nil
	}
	left := r.fence(p).Bounds(p)
	if p.outcome.incomplete() { // it records nothing but what was observed, and a write that hangs may have used up the time
		left = nil
	}
	p.observed.Refused = r.refusals.of(key, p.cluster.Generation, r.Clock.Now())
	if word := p.outcome.word(); p.deed != nil && word != "" {
		p.deed.Incomplete = word
	}
	return reconcile.Finish(ctx, reconcile.Ending{
		WriteStatus: func(ctx context.Context, err error) error { return r.writeStatus(ctx, p, err) },
		Left:        left,
		Deed:        p.deed,
		RecordEvents: func(ctx context.Context, err error) {
			if err != nil {
				r.recordDone(ctx, p)
			}
			r.recordEvents(ctx, p, err)
		},
		RecordDone: func(ctx context.Context) { r.recordDone(ctx, p) },
		Again:      func() ctrl.Result { return r.requeue(p) },
	}, err)
}

// requeue returns when the next pass is due: later, and after other clusters, if the action was repeated without effect. Connections
// are kept from step to step, but not over longer pauses: they would be most of what an idle cluster costs, and those to a member
// that hangs would be retried all the time.
func (r *Reconciler) requeue(p *pass) ctrl.Result {
	rank := rank(p)
	result := ctrl.Result{RequeueAfter: nextDelay(p.action), Priority: &rank}
	switch {
	case p.outcome.incomplete(): // the next pass goes on with what is not refused
		rank = min(rank, normal)
	case plan.Mutates(p.action):
		if pause := r.paces.note(p.key(), p.action, r.Clock.Now()); pause > 0 {
			rank, result.RequeueAfter = min(rank, normal), pause
		}
	}
	if refused := p.observed.Refused; len(refused) > 0 {
		result.RequeueAfter = min(result.RequeueAfter, nextTry(refused, r.Clock.Now()))
	}
	if p.certified != nil && !p.observed.Cluster.Paused {
		result.RequeueAfter = min(result.RequeueAfter, max(p.certified.until.Sub(r.Clock.Now()), rotationPoll))
	}
	if p.reminder > 0 {
		result.RequeueAfter = min(result.RequeueAfter, p.reminder)
	}
	if p.comparesAgain > 0 {
		result.RequeueAfter = min(result.RequeueAfter, p.comparesAgain)
	}
	if plan.DisksUndecided(p.observed) {
		result.RequeueAfter = min(result.RequeueAfter, diskWatchInterval)
	}
	if p.assessment.Alarm != nil {
		result.RequeueAfter = min(result.RequeueAfter, alarmInterval)
	}
	if again, matters := upkeepAgain(p); matters {
		result.RequeueAfter = min(result.RequeueAfter, again)
	}
	if every := r.Etcd.SampleEvery; every > 0 { // sooner than idle clusters are looked at, for tests
		result.RequeueAfter = min(result.RequeueAfter, every)
	}
	if again, matters := r.autopilotAgain(p); matters {
		result.RequeueAfter = min(result.RequeueAfter, again)
	}
	if result.RequeueAfter >= keepConnectionsFor || p.session.Slow {
		r.Etcd.Disconnect(p.key().String())
	}
	r.glance(p, result.RequeueAfter)
	return result
}

func nextDelay(a plan.Action) time.Duration {
	switch act := a.(type) {
	case plan.Wait:
		return act.After
	case plan.Idle, plan.Blocked:
		return wait.Jitter(reconcile.Heartbeat, 0.2)
	default:
		return reconcile.Soon
	}
}

func (r *Reconciler) writeStatus(ctx context.Context, p *pass, err error) error {
	c := p.cluster
	if !c.DeletionTimestamp.IsZero() || err == nil && p.outcome.nothingNew() {
		return nil
	}
	c.Status = status.Compute(status.Input{
		Cluster: c, Observed: p.observed, Action: p.action, Assessment: p.assessment, Err: err, Rejected: p.rejected,
		Incomplete:   p.outcome.incomplete(),
		Certificates: p.shownCertificates(),
		Auth:         p.shownAuth(),
		OperatorMode: r.Autopilot,
		Habits:       p.habits,
		ClientURL:    resources.ClientURL(c),
		Service:      resources.ClientServiceName(c.Name),
		Port:         resources.ClientServicePort(c),
		Selector:     metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: resources.ClusterSelector(c.Name)}),
	})
	if equality.Semantic.DeepEqual(p.before, &c.Status) {
		return nil
	}
	return r.Client.Status().Update(ctx, c)
}

// recordEvents records an event for every action that took effect, for every new wait or block, and for every new refusal.
func (r *Reconciler) recordEvents(ctx context.Context, p *pass, err error) {
	r.recordUnrelated(p)
	r.recordReclaim(p)
	r.recordCertificates(p)
	r.recordExposed(p)
	r.recordAlarm(p)
	r.recordDefragmented(p)
	r.recordEnded(p)
	r.recordHeld(p)
	r.recordAnomaly(p)
	r.recordAction(ctx, p, err)
}

// recordDone records an event for an action that has taken effect, whatever comes after it: something else that fails, or the write to status.
func (r *Reconciler) recordDone(ctx context.Context, p *pass) {
	if p.done && plan.Mutates(p.action) {
		r.recordDefragmented(p)
		r.recordAction(ctx, p, nil)
	}
}

func (r *Reconciler) recordAction(ctx context.Context, p *pass, err error) {
	told, some := p.action, true
	if p.outcome.incomplete() || len(p.outcome.accepted) > 0 {
		if told, some = plan.PartOf(p.action, p.outcome.accepted); !some {
			told = p.action
		}
	}
	d := plan.DescribeIn(p.observed, p.assessment, told)
	r.recordRefused(p, d)
	if !some && err == nil {
		return
	}
	reconcile.Record(ctx, r.Recorder, p.cluster, reconcile.Outcome{
		Action: d.Action, Reason: d.Reason, Message: d.Message, Warning: warns(p.action, d.Reason),
		New: plan.Mutates(p.action) ||
			d.Reason != v1beta2.ReasonWriteRefused && !ofAlarm(d.Reason) && !reconcile.IsProgressing(p.before.Conditions, d.Reason, d.Message),
	}, err)
}

// recordRefused counts the action's writes that were refused, and warns once of each refusal.
func (r *Reconciler) recordRefused(p *pass, d plan.Description) {
	if n := p.outcome.refused; n > 0 {
		metrics.Refused(d.Action, n)
	}
	for _, refusal := range r.refusals.untold(p.key(), r.Clock.Now()) {
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeWarning, v1beta2.ReasonWriteRefused, refusal.Target.String(), refusal.String())
	}
}

// warns reports whether the event is a Warning.
func warns(a plan.Action, reason string) bool {
	switch act := a.(type) {
	case plan.CancelRestore, plan.ContinueRestore, plan.Blocked:
		return true
	case plan.CommitBootstrap:
		return act.UnsavedReason != ""
	case plan.RecordClusterID:
		return act.Unsaved && len(act.KeptVolumes) > 0
	case plan.Wait, plan.Idle:
		return reason == v1beta2.ReasonQuorumLost
	default:
		return false
	}
}

// recordReclaim warns, once, of volumes that are deleted with their cluster although spec.volumeReclaimPolicy is not set.
func (r *Reconciler) recordReclaim(p *pass) {
	if undecided(p.cluster.Status.AcceptedSpec) && !undecided(p.before.AcceptedSpec) {
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeWarning, v1beta2.ReasonVolumesNotRetained, "Accept",
			"spec.volumeReclaimPolicy is not set, so the volumes and their data are deleted with the EtcdCluster: set it to "+
				"Retain to keep them, or to Delete to confirm that")
	}
}

// undecided reports whether a recorded spec has volumes but no volumeReclaimPolicy.
func undecided(noted *runtime.RawExtension) bool {
	spec := clusterspec.Noted(noted)
	return spec != nil && spec.VolumeReclaimPolicy == "" && resources.Persistent(&v1beta2.EtcdCluster{Spec: *spec})
}

// recordUnrelated writes an event about what has the cluster's labels and is not the cluster's, once.
func (r *Reconciler) recordUnrelated(p *pass) {
	now := meta.FindStatusCondition(p.cluster.Status.Conditions, v1beta2.ConditionDegraded)
	if now == nil || now.Reason != v1beta2.ReasonStrangerPod && now.Reason != v1beta2.ReasonForeignVolume {
		return
	}
	if _, blocked := p.action.(plan.Blocked); blocked { // that has an event
		return
	}
	before := meta.FindStatusCondition(p.before.Conditions, v1beta2.ConditionDegraded)
	if before == nil || before.Reason != now.Reason || before.Message != now.Message {
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeWarning, now.Reason, "Ignore", now.Message)
	}
}
