package etcdcluster

import (
	"context"
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// wordsKept is how much of the API server's words is kept, in bytes: they may quote a whole object.
	wordsKept = 300
	// readWithin is how long the API server may take to show that it answers reads.
	readWithin = time.Second
	// noAnswer is what is said of a write that is given no answer.
	noAnswer = "no answer in time, although it answers reads: an admission webhook may hang"
)

// refused reports whether a write is refused, or was undone, which will happen again in the same way.
func refused(err error) bool {
	rewritten := (*rewrittenError)(nil)
	return errors.As(err, &rewritten) || reconcile.Refused(err)
}

// invalid reports whether the API server itself finds a write invalid, so that no one can allow it.
func invalid(err error) bool { return apierrors.IsInvalid(err) && !reconcile.Denied(err) }

// rewrittenError says that a write was accepted, and something in the API server has undone it.
type rewrittenError struct{ what string }

func (e *rewrittenError) Error() string { return e.what }

// refusalOf says in whose words the API server refuses a write; ok is false if the error says something else.
func (r *Reconciler) refusalOf(ctx context.Context, p *pass, err error) (message string, ok bool) {
	switch {
	case outage.Starting(err): // the next pass asks again
		return "", false
	case refused(err):
		return quoted(err), true
	case r.unanswered(ctx, p, err):
		return noAnswer, true
	}
	return "", false
}

// unanswered reports whether a write was given no answer until the time of the pass was over, although the API server can be reached:
// a webhook may take up to 30 seconds, which is longer than a pass may. If the API server does not answer a read, either, then that is
// an outage, and so is a connection that cannot be made. The write may take effect all the same: the next pass sees it.
func (r *Reconciler) unanswered(ctx context.Context, p *pass, err error) bool {
	if !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	// Where a webhook asks to be tried again later, client-go does so itself, and its error is the deadline alone.
	if request, ok := errors.AsType[*url.Error](err); ok && request.Op == "Get" {
		return false
	}
	if connection, ok := errors.AsType[*net.OpError](err); ok && connection.Op == "dial" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readWithin)
	defer cancel()
	return client.IgnoreNotFound(r.Live.Get(ctx, p.key(), &v1beta2.EtcdCluster{})) == nil
}

// userInfo is what may precede the host in a URL.
var userInfo = regexp.MustCompile(`://[^\s/"']+@`)

// quoted are the API server's own words, on one line and cut to wordsKept, without what a URL says of a user.
func quoted(err error) string {
	text := err.Error()
	if answer := apierrors.APIStatus(nil); errors.As(err, &answer) {
		text = answer.Status().Message
	}
	return failure.Cut(userInfo.ReplaceAllString(strings.Join(strings.Fields(text), " "), "://"), wordsKept)
}

// afterTrial is how long an update is not tried again whose dry run passed and which was refused all the same. It would be prepared for
// and called off, or done and undone, in turns.
const afterTrial = 5 * time.Minute

// outcome is what has come of an action's writes to the API server.
type outcome struct {
	// accepted are those that have taken effect.
	accepted []plan.Target
	// refused counts the others that were tried. news is true if any refusal is new.
	refused int
	news    bool
	// late is true if the time of the pass was over before all were tried.
	late bool
}

// incomplete reports whether the action has not taken effect as a whole.
func (o outcome) incomplete() bool { return o.refused > 0 || o.late }

// word is the outcome for the metrics, empty if the action has taken effect as a whole.
func (o outcome) word() string {
	switch {
	case o.refused > 0:
		return metrics.OutcomeRefused
	case o.late:
		return metrics.OutcomeStale
	}
	return ""
}

// nothingNew reports whether the pass has only been refused once more what was refused before. Status tells of that already, and of what
// the operator does besides or waits for, as the next pass will, which is due at once: in turns they would each be news.
func (o outcome) nothingNew() bool {
	return o.incomplete() && len(o.accepted) == 0 && !o.news && !o.late
}

// refuse notes that a write of the action was refused.
func (r *Reconciler) refuse(p *pass, target plan.Target, message string) {
	p.outcome.refused++
	r.noteRefused(p, target, message)
}

func (r *Reconciler) noteRefused(p *pass, target plan.Target, message string) {
	key, now := p.key(), r.Clock.Now()
	if r.refusals.note(key, p.cluster.Generation, target, message, now) {
		p.outcome.news = true
	}
	if message == noAnswer { // each try costs the time of a pass
		r.refusals.hold(key, target, now.Add(longest))
	}
}

// refuseUpdate notes that an update was refused although its dry run has passed: a write of its own, or the new pod of a recreated one.
func (r *Reconciler) refuseUpdate(p *pass, effect plan.Effect, message string) {
	update := plan.TargetOfUpdate(p.action)
	if pod, creates := effect.(plan.CreatePod); creates && pod.Permit != nil && !pod.FromPreviousSpec && p.previousSpec != nil {
		update = plan.TargetOfUpdate(plan.Recreate{Name: pod.Name})
	}
	if update != (plan.Target{}) {
		r.noteRefused(p, update, message)
		r.refusals.hold(p.key(), update, r.Clock.Now().Add(afterTrial))
	}
}

// late reports whether a write has used up the time of the pass: what is left is for the next one.
func (p *pass) late(ctx context.Context) bool {
	p.outcome.late = (p.outcome.refused > 0 || p.rejected != nil) && ctx.Err() != nil
	return p.outcome.late
}

// has reports whether the pass has seen an object of that kind and name, and takes it for the cluster's.
func (p *pass) has(o client.Object) bool {
	name, ok := o.GetName(), false
	switch o.(type) {
	case *corev1.Pod:
		_, ok = p.pods[name]
		ok = ok || slices.ContainsFunc(p.observed.PrepullPods, func(pull plan.PrepullPod) bool { return pull.Name == name })
	case *corev1.PersistentVolumeClaim:
		_, ok = p.claims[name]
	case *corev1.Service:
		_, ok = p.services[name]
	}
	return ok
}
