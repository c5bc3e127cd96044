package restore

import (
	"reflect"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

var (
	noon    = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	damaged = failure.Problem{Reason: v1beta2.ReasonSnapshotDamaged, Message: "use another one", Terminal: true}
	refused = failure.Problem{Reason: v1beta2.ReasonStorageAccessDenied, Message: "allow it", Terminal: true}
	full    = failure.Problem{Reason: v1beta2.ReasonStorageFull, Message: "make room"}
	silent  = failure.Problem{Reason: v1beta2.ReasonEtcdUnreachable, Message: "nobody answers"}
	unfit   = failure.Problem{Reason: v1beta2.ReasonSnapshotVersion, Message: "set the version"}
	up      = Cluster{Name: "c", Exists: true, Pinned: true, Held: true, Answers: true}
	down    = Cluster{Name: "c", Exists: true, Pinned: true, Held: true}
)

func verifying(change func(*Observed)) Observed {
	o := Observed{Now: noon, Created: noon.Add(-time.Minute), Phase: v1beta2.RestoreVerifying, Timeout: time.Hour, Cluster: up}
	change(&o)
	return o
}

func saving(change func(*Observed)) Observed {
	return verifying(func(o *Observed) {
		o.Phase, o.Verified = v1beta2.RestoreSaving, true
		change(o)
	})
}

func replacing(c Cluster, r *Record) Observed {
	c.Record = r
	return Observed{Now: noon, Phase: v1beta2.RestoreReplacing, Verified: true, HasFinalizer: true, Cluster: c}
}

// tried is the observation with a pod that has ended.
func tried(attempt int, why *failure.Problem) func(*Observed) {
	return func(o *Observed) {
		o.Run = &Run{Attempt: attempt, Started: noon}
		o.Pod = &retry.Pod{Name: "p", UID: "u", Result: &retry.Result{Failure: why}}
	}
}

// mute is the last of six tries none of which was answered.
func mute(o *Observed) {
	tried(6, &silent)(o)
	o.Run.Unanswered = 5
}

func both(all ...func(*Observed)) func(*Observed) {
	return func(o *Observed) {
		for _, f := range all {
			f(o)
		}
	}
}

func TestVerifying(t *testing.T) {
	first := Start{Run{Attempt: 1, Started: noon}}
	table(t, map[string]row{
		"created":               {Observed{Now: noon, Cluster: up}, Enter{Phase: v1beta2.RestoreVerifying}},
		"answered before":       {Observed{AnsweredBefore: true, Cluster: up}, Idle{Reason: v1beta2.ReasonAnsweredBefore}},
		"called off at once":    {Observed{Deleting: true}, Idle{Reason: v1beta2.ReasonTerminating}},
		"begins":                {verifying(func(*Observed) {}), first},
		"waits for its cluster": {verifying(func(o *Observed) { o.Cluster = Cluster{} }), Blocked{Reason: v1beta2.ReasonClusterMissing}},
		"the cluster goes":      {verifying(func(o *Observed) { o.Cluster.Deleting = true }), Fail{Reason: v1beta2.ReasonClusterDeleted}},
		"waits for its EtcdBackup": {
			verifying(func(o *Observed) { o.Source = &full }), Blocked{Reason: full.Reason},
		},
		"a spec that cannot work": {
			verifying(func(o *Observed) { o.Source = &refused }), Fail{Reason: refused.Reason},
		},
		"labels of the operator's own": {
			verifying(func(o *Observed) { o.Invalid = &unfit }), Fail{Reason: unfit.Reason},
		},
		"a pod is made": {verifying(func(o *Observed) { o.Run = &Run{Attempt: 1, Started: noon} }), CreatePod{}},
		"at work": {
			verifying(func(o *Observed) { o.Run, o.Pod = &Run{Attempt: 1, Started: noon}, &retry.Pod{Running: true} }),
			Wait{Reason: v1beta2.ReasonVerifying},
		},
		"the clock was set back": {
			verifying(func(o *Observed) {
				o.Run, o.Pod = &Run{Attempt: 1, Started: noon.Add(time.Hour)}, &retry.Pod{Running: true}
			}),
			ResetTimer{},
		},
		"the pod cannot run": {
			verifying(func(o *Observed) { o.Run, o.Pod = &Run{Attempt: 1, Started: noon}, &retry.Pod{Problem: "no node"} }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"checked":            {verifying(tried(1, nil)), Finish{}},
		"damaged":            {verifying(tried(1, &damaged)), Fail{Reason: damaged.Reason}},
		"full":               {verifying(tried(2, &full)), Retry{Failure: full, After: noon.Add(20 * time.Second)}},
		"full too often":     {verifying(tried(6, &full)), Fail{Reason: full.Reason}},
		"silence is a fault": {verifying(tried(6, &silent)), Fail{Reason: silent.Reason}},
		"its pod is kept until then": {
			verifying(both(tried(1, &full), func(o *Observed) { o.Run.RetryAfter = noon.Add(time.Second) })),
			Wait{Reason: v1beta2.ReasonWaitingForRetry},
		},
		"its pod goes before another try": {
			verifying(both(tried(1, &full), func(o *Observed) { o.Run.RetryAfter = noon })), DeletePod{"p", "u"},
		},
		"not yet": {
			verifying(func(o *Observed) { o.Run = &Run{Attempt: 1, RetryAfter: noon.Add(time.Second)} }),
			Wait{Reason: v1beta2.ReasonWaitingForRetry},
		},
		"another try": {
			verifying(func(o *Observed) { o.Run = &Run{Attempt: 1, RetryAfter: noon} }), Start{Run{Attempt: 2, Started: noon}},
		},
		"called off":                   {verifying(both(tried(1, nil), func(o *Observed) { o.Deleting = true })), Idle{Reason: v1beta2.ReasonTerminating}},
		"its pod is over":              {verifying(func(o *Observed) { o.Verified, o.OrphanedPods = true, []retry.Pod{{Name: "p", UID: "u"}} }), DeletePod{"p", "u"}},
		"its pod stays on a lost node": {verifying(func(o *Observed) { o.Verified, o.OrphanedPods = true, []retry.Pod{{Deleting: true}} }), Enter{Phase: v1beta2.RestoreSaving}},
		"verified":                     {verifying(func(o *Observed) { o.Verified = true }), Enter{Phase: v1beta2.RestoreSaving}},
		"of another cluster": {
			verifying(func(o *Observed) { o.Verified, o.Of = true, "EtcdCluster ns/d" }),
			Enter{Phase: v1beta2.RestoreSaving, Of: "EtcdCluster ns/d"},
		},
		"a later one has come further": {
			verifying(func(o *Observed) { o.Verified, o.Newer = true, "r" }), Fail{Reason: v1beta2.ReasonRestoreSuperseded},
		},
		"its cluster is noted":   {verifying(func(o *Observed) { o.Cluster.Pinned = false }), Pin{}},
		"its cluster is another": {verifying(func(o *Observed) { o.Cluster.Other = true }), Fail{Reason: v1beta2.ReasonClusterReplaced}},
		"its cluster was deleted": {
			verifying(func(o *Observed) { o.Cluster = Cluster{Pinned: true} }), Fail{Reason: v1beta2.ReasonClusterDeleted},
		},
		"it has waited for its cluster for too long": {
			verifying(func(o *Observed) { o.Cluster, o.Created = Cluster{}, noon.Add(-WaitLimit) }), Fail{Reason: v1beta2.ReasonClusterMissing},
		},
		"it has waited for its EtcdBackup for too long": {
			verifying(func(o *Observed) { o.Source, o.Created = &full, noon.Add(-WaitLimit) }), Fail{Reason: full.Reason},
		},
	})
}

func TestSaving(t *testing.T) {
	table(t, map[string]row{
		"begins": {saving(func(*Observed) {}), Start{Run{Attempt: 1, Started: noon}}},
		"at work": {
			saving(func(o *Observed) { o.Run, o.Pod = &Run{Attempt: 1, Started: noon}, &retry.Pod{} }), Wait{Reason: v1beta2.ReasonSaving},
		},
		"its version is another now": {
			saving(func(o *Observed) { o.Saved, o.HasFinalizer, o.Unfit = true, true, &unfit }), Fail{Reason: unfit.Reason},
		},
		"its version is another while it is saved": {
			saving(both(tried(1, nil), func(o *Observed) { o.Unfit = &unfit })), Fail{Reason: unfit.Reason},
		},
		"saved":     {saving(tried(1, nil)), Finish{}},
		"finalizer": {saving(func(o *Observed) { o.Saved = true }), AddFinalizer{}},
		"replaced":  {saving(func(o *Observed) { o.Saved, o.HasFinalizer = true, true }), Replace{}},
		"what a restore that gives way has not saved": {
			saving(func(o *Observed) {
				o.Cluster.Held, o.Cluster.Unsaved, o.HasFinalizer = false, "it was to be skipped", true
			}),
			Replace{Unsaved: "it was to be skipped", Keep: true},
		},
		"nobody is known who could be asked": {
			saving(func(o *Observed) { o.Cluster.Mute, o.HasFinalizer = true, true }),
			Replace{Unsaved: "no member of it is known, and it has no pod that could be asked", Keep: true},
		},
		"nobody is known, and nothing is needed": {
			saving(func(o *Observed) { o.Cluster.Mute, o.Skip, o.HasFinalizer = true, true, true }),
			Replace{Unsaved: "spec.safetySnapshot is Skip"},
		},
		"all members are stopped on purpose": {
			saving(func(o *Observed) { o.Cluster.Answers, o.Cluster.Asleep, o.HasFinalizer = false, true, true }),
			Replace{Unsaved: "all of its members are stopped (spec.hibernate)", Keep: true},
		},
		"they are about to stop": {
			saving(func(o *Observed) { o.Cluster.Answers, o.Cluster.Asleep, o.HasFinalizer = true, true, true }), Start{Run{Attempt: 1, Started: noon}},
		},
		"nothing is held": {saving(func(o *Observed) { o.Cluster.Held, o.HasFinalizer = false, true }), Replace{}},
		"skipped":         {saving(func(o *Observed) { o.Skip, o.HasFinalizer = true, true }), Replace{Unsaved: "spec.safetySnapshot is Skip"}},
		"nobody answers once": {
			saving(both(tried(1, &silent), func(o *Observed) { o.Cluster, o.HasFinalizer = down, true })),
			Retry{Failure: silent, After: noon.Add(10 * time.Second), Unanswered: 1},
		},
		"nobody answers any try": {
			saving(both(mute, func(o *Observed) { o.Cluster, o.HasFinalizer = down, true })),
			Replace{Unsaved: silent.Message, Keep: true},
		},
		"nobody, no finalizer": {saving(both(mute, func(o *Observed) { o.Cluster = down })), AddFinalizer{}},
		"nobody answers the last try": {
			saving(both(tried(6, &silent), func(o *Observed) { o.Cluster, o.HasFinalizer = down, true })), Fail{Reason: silent.Reason},
		},
		"somebody has answered one try": {
			saving(both(mute, func(o *Observed) { o.Cluster, o.HasFinalizer, o.Run.Unanswered = down, true, 4 })), Fail{Reason: silent.Reason},
		},
		"somebody answers the last try": {
			saving(both(tried(6, &full), func(o *Observed) { o.Cluster, o.HasFinalizer, o.Run.Unanswered = down, true, 5 })),
			Fail{Reason: full.Reason},
		},
		"somebody has answered, and nobody does now": {
			saving(both(tried(5, &silent), func(o *Observed) { o.Cluster, o.Run.Unanswered = down, 2 })),
			Retry{Failure: silent, After: noon.Add(160 * time.Second), Unanswered: 3},
		},
		"another try, after nobody has answered": {
			saving(func(o *Observed) { o.Run = &Run{Attempt: 3, Unanswered: 3, RetryAfter: noon} }),
			Start{Run{Attempt: 4, Unanswered: 3, Started: noon}},
		},
		"nobody, and nothing could be kept": {
			saving(both(mute, func(o *Observed) { o.Cluster, o.HasFinalizer, o.Cluster.Volatile = down, true, []string{"c-0"} })),
			Fail{Reason: silent.Reason},
		},
		"a later one goes on meanwhile": {saving(func(o *Observed) { o.Newer = "r" }), Fail{Reason: v1beta2.ReasonRestoreSuperseded}},
		"nobody, though somebody should": {
			saving(tried(1, &silent)), Retry{Failure: silent, After: noon.Add(10 * time.Second), Unanswered: 1},
		},
		"nobody, for long":           {saving(mute), Fail{Reason: silent.Reason}},
		"no room, of a cluster down": {saving(both(tried(6, &full), func(o *Observed) { o.Cluster = down })), Fail{Reason: full.Reason}},
		"refused":                    {saving(tried(1, &refused)), Fail{Reason: refused.Reason}},
		"the cluster goes":           {saving(func(o *Observed) { o.Cluster.Deleting = true }), Fail{Reason: v1beta2.ReasonClusterDeleted}},
		"the cluster is gone":        {saving(func(o *Observed) { o.Cluster = Cluster{} }), Blocked{Reason: v1beta2.ReasonClusterMissing}},
		"called off":                 {saving(func(o *Observed) { o.Deleting = true }), Idle{Reason: v1beta2.ReasonTerminating}},
		"called off late":            {saving(func(o *Observed) { o.Deleting, o.HasFinalizer = true, true }), RemoveFinalizer{}},
	})
}

func TestOver(t *testing.T) {
	over := func(p v1beta2.RestorePhase, change func(*Observed)) Observed {
		o := Observed{Now: noon, Phase: p, Cluster: up}
		change(&o)
		return o
	}
	stray := func(o *Observed) { o.OrphanedPods = []retry.Pod{{Name: "p", UID: "u"}} }
	table(t, map[string]row{
		"succeeded":        {over(v1beta2.RestoreSucceeded, func(*Observed) {}), Idle{Reason: v1beta2.ReasonCompleted}},
		"let go":           {over(v1beta2.RestoreSucceeded, func(o *Observed) { o.HasFinalizer = true }), RemoveFinalizer{}},
		"tidied":           {over(v1beta2.RestoreSucceeded, stray), DeletePod{"p", "u"}},
		"a log is kept":    {over(v1beta2.RestoreFailed, stray), Idle{Reason: v1beta2.ReasonCompleted}},
		"deleted":          {over(v1beta2.RestoreSucceeded, both(stray, func(o *Observed) { o.Deleting = true })), Idle{Reason: v1beta2.ReasonCompleted}},
		"a cluster leaves": {over(v1beta2.RestoreSucceeded, func(o *Observed) { o.Cluster.Deleting = true }), Idle{Reason: v1beta2.ReasonCompleted}},
	})
}

// TestOf wants it to be told whose data it is, wherever it is another cluster's.
func TestOf(t *testing.T) {
	for _, o := range []Observed{
		verifying(func(o *Observed) { o.Verified = true }),
		saving(func(o *Observed) { o.Saved, o.HasFinalizer = true, true }),
		replacing(up, &Record{Completed: true}),
	} {
		if got := Describe(Next(o)).Message; strings.Contains(got, "EtcdCluster") {
			t.Errorf("of its own data it says %q", got)
		}
		o.Of = "EtcdCluster ns/d"
		if got := Describe(Next(o)).Message; !strings.Contains(got, "of EtcdCluster ns/d") {
			t.Errorf("of another's data it says %q", got)
		}
	}
}

type row struct {
	o    Observed
	want Action
}

func table(t *testing.T, rows map[string]row) {
	t.Helper()
	for title, c := range rows {
		t.Run(title, func(t *testing.T) {
			got := Next(c.o)
			if !reflect.DeepEqual(plain(got), plain(c.want)) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
			if d := Describe(got); d.Reason == v1beta2.ReasonActionFailed || d.Message == "" {
				t.Errorf("it is described as %+v", d)
			}
		})
	}
}

// plain leaves out what is for people.
func plain(a Action) Action {
	switch a := a.(type) {
	case Idle:
		return Idle{Reason: a.Reason}
	case Wait:
		return Wait{Reason: a.Reason}
	case Blocked:
		return Blocked{Reason: a.Reason}
	case Fail:
		return Fail{Reason: a.Reason}
	default:
		return a
	}
}
