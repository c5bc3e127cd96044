package accounts

import (
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/access"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

const (
	// lookAgain is how often etcd is asked whether somebody has changed a user or a role, and a password's Secret whether it has
	// changed. Each question is a proposal to raft.
	lookAgain = 5 * time.Minute
	// askAgain is the next attempt while etcd does not answer, up to Heartbeat if that lasts.
	askAgain = 10 * time.Second
	// patience is how long a pass asks one etcd before it decides: there are few workers, for the clusters of everybody.
	patience = 5 * time.Second
	// verifyAfter is when etcd is asked whether it has what it was sent.
	verifyAfter = 250 * time.Millisecond
)

// Pass is what one reconciliation has read and decided.
type Pass struct {
	// Begun is when the pass began to read.
	Begun time.Time
	// Declined is why this operator does not act on the object; nil if it does. Otherwise nothing but the object is known.
	Declined claim.Decision
	Observed access.Observed
	Action   access.Action
	// Flaw is what etcd does not have although nothing else can be done, nil if it has everything.
	Flaw *failure.Problem
	// Self is the user of etcd that the operator is by its certificate, empty if it is nobody or Etcd was not called.
	Self string
	// Silence is which clusters do not answer; nil asks all.
	Silence *Silence
	// Tried is what the pass has tried to change, nil for nothing.
	Tried *reconcile.Deed
	// Done is how many of the calls etcd has carried out.
	Done int

	etcd *etcd.Accounts
	// asked is when the pass began to ask etcd.
	asked   time.Time
	cluster types.UID
}

// Mutates reports whether the decision changes anything.
func (p *Pass) Mutates() bool {
	if p.Declined != nil {
		return claim.Mutates(p.Declined)
	}
	return access.Mutates(p.Action)
}

// Deed names what the decision changes.
func (p *Pass) Deed() reconcile.Deed {
	reason, _ := p.words(nil)
	return reconcile.Deed{Action: actionName(p.Action), Reason: reason}
}

// Etcd connects to the target's etcd, until Close; nil if there is a problem, which Observed then has.
func (p *Pass) Etcd(ctx context.Context, t Target, reader, live client.Reader) (*etcd.Accounts, error) {
	p.Close()
	config, problem, err := configOf(ctx, live, t.Cluster)
	if err != nil || problem != nil {
		p.Observed.Problem = problem
		return nil, err
	}
	p.Self, p.asked, p.cluster = selfOf(config), time.Now(), t.Cluster.UID
	if p.Silence != nil && !p.Silence.asks(p.cluster, p.asked) {
		p.Observed.Problem = &failure.Problem{
			Reason: v1beta2.ReasonWaitingForEtcd, Message: "EtcdCluster " + t.Cluster.Name + " did not answer a moment ago: see its conditions",
		}
		return nil, nil //nolint:nilnil // as documented
	}
	asking, end := p.Asking(ctx)
	defer end()
	to, problem, err := t.connect(asking, reader, config)
	p.etcd, p.Observed.Problem = to, problem
	if problem != nil {
		p.remember(errors.New(problem.Message))
	}
	return to, err
}

// Heard ends the questions of a pass with their error, nil if etcd has answered.
func (p *Pass) Heard(err error) {
	if p.remember(err); err != nil {
		p.Observed.Problem = Unanswered(err)
	}
}

func (p *Pass) remember(err error) {
	if now := time.Now(); p.Silence != nil {
		p.Silence.heard(p.cluster, now, now.Sub(p.asked), err)
	}
}

// Asking is for all questions to etcd of a pass, from Etcd on, and ends when they have taken too long together.
func (p *Pass) Asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, p.asked.Add(patience))
}

// Close closes the connection to etcd.
func (p *Pass) Close() {
	if p != nil && p.etcd != nil {
		p.etcd.Close()
		p.etcd = nil
	}
}

// Execute carries out the action of the pass. The linter requires every action to be in the list.
func (p *Pass) Execute(ctx context.Context, c client.Client, o client.Object, password string) error {
	switch a := p.Action.(type) {
	case access.Idle, access.Wait:
	case access.AddFinalizer:
		return reconcile.AddFinalizer(ctx, c, o, v1beta2.FinalizerAccess)
	case access.RemoveFinalizer:
		return reconcile.RemoveFinalizer(ctx, c, o, v1beta2.FinalizerAccess)
	case access.Apply:
		for _, call := range a.Calls {
			if err := p.etcd.Do(ctx, call, password); err != nil {
				return err
			}
			p.Done++
		}
	}
	return nil
}

// Carried are the calls that etcd has carried out.
func (p *Pass) Carried() []access.Call {
	if a, ok := p.Action.(access.Apply); ok {
		return a.Calls[:p.Done]
	}
	return nil
}

// Ready sets the condition Ready.
func (p *Pass) Ready(conditions *[]metav1.Condition, generation int64, err error) {
	c := metav1.Condition{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, ObservedGeneration: generation}
	c.Reason, c.Message = p.verdict(err)
	if c.Reason == v1beta2.ReasonApplied {
		c.Status = metav1.ConditionTrue
	}
	if c.Reason != "" {
		meta.SetStatusCondition(conditions, c)
	}
}

// longest is how many bytes a condition's message may have (metav1.Condition): the API server refuses a whole status for a longer one.
const longest = 32768

// verdict is empty if there is nothing new to say. Errors and permissions hold what others have written, of any length.
func (p *Pass) verdict(err error) (reason, message string) {
	reason, message = p.words(err)
	return reason, failure.Cut(message, longest)
}

func (p *Pass) words(err error) (reason, message string) {
	if err != nil {
		return v1beta2.ReasonActionFailed, err.Error()
	}
	switch a := p.Action.(type) {
	case access.Wait:
		return a.Reason, a.Message
	case access.Apply:
		return v1beta2.ReasonCorrected, "sent to etcd, and not confirmed yet: " + describe(a.Calls)
	case access.Idle:
		switch {
		case p.Observed.Deleting:
			return "", ""
		case p.Flaw != nil:
			return p.Flaw.Reason, p.Flaw.Message
		}
		return v1beta2.ReasonApplied, "etcd has it as the spec says"
	case access.AddFinalizer, access.RemoveFinalizer:
	}
	return "", ""
}

func describe(calls []access.Call) string {
	var all []string
	for _, c := range calls {
		all = append(all, access.Describe(c))
	}
	return strings.Join(all, ", ")
}

// Outcome is what the pass came to, in words. Before are the conditions as they were read.
func (p *Pass) Outcome(before []metav1.Condition) reconcile.Outcome {
	reason, message := p.verdict(nil)
	_, applied := p.Action.(access.Apply)
	old := meta.FindStatusCondition(before, v1beta2.ConditionReady)
	o := reconcile.Outcome{
		Action: actionName(p.Action), Reason: reason, Message: message,
		New:     reason != "" && (applied || old == nil || old.Reason != reason || old.Message != message),
		Warning: !applied && reason != v1beta2.ReasonApplied,
	}
	if applied {
		o.Message = "sent to etcd: " + describe(p.Carried())
	}
	return o
}

func actionName(a access.Action) string {
	switch a.(type) {
	case access.Idle:
	case access.Wait:
		return "Wait"
	case access.AddFinalizer:
		return "AddFinalizer"
	case access.RemoveFinalizer:
		return "RemoveFinalizer"
	case access.Apply:
		return "Apply"
	}
	return "Idle"
}

// Again is when the next pass is due. What etcd was sent over and over without effect is sent more and more seldom: at the second
// attempt after as long as the first was ago, up to a minute. So is etcd asked while it does not answer.
func (p *Pass) Again(conditions []metav1.Condition, now time.Time) ctrl.Result {
	after := reconcile.Soon
	switch a := p.Action.(type) {
	case access.Idle:
		if p.Observed.Deleting {
			return ctrl.Result{}
		}
		if after = lookAgain; p.Flaw != nil {
			after = reconcile.Heartbeat
		}
		if p.Flaw != nil && p.Flaw.Reason == v1beta2.ReasonWaitingForCertificate {
			after = askAgain
		}
		after = wait.Jitter(after, 0.1)
	case access.Wait:
		if after = reconcile.Heartbeat; a.Reason == v1beta2.ReasonWaitingForEtcd {
			after = wait.Jitter(growing(askAgain, conditions, now), 0.1)
		}
	case access.Apply:
		after = growing(verifyAfter, conditions, now)
	case access.AddFinalizer, access.RemoveFinalizer:
	}
	return ctrl.Result{RequeueAfter: after}
}

// growing is as long as Ready is not true already, and at least that long.
func growing(least time.Duration, conditions []metav1.Condition, now time.Time) time.Duration {
	c := meta.FindStatusCondition(conditions, v1beta2.ConditionReady)
	if c == nil {
		return least
	}
	return min(max(least, now.Sub(c.LastTransitionTime.Time)), reconcile.Heartbeat)
}
