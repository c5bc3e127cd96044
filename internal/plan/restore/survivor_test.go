package restore

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// TestOfMember restores what a surviving member holds, and nothing once its plan is void. A cluster without a quorum writes nothing, so
// what was saved, stale or not, is all there is.
func TestOfMember(t *testing.T) {
	void := failure.Problem{Reason: v1beta2.ReasonRecoveryVoid, Message: "the quorum is back"}
	of := func(changes ...func(*Observed)) func(*Observed) {
		return func(o *Observed) {
			o.OfMember, o.HasFinalizer, o.Cluster = true, true, down
			o.Cluster.Volatile = []string{"c-1"}
			both(changes...)(o)
		}
	}
	stale := func(o *Observed) { o.Saved, o.Stale = true, true }
	verified := func(o *Observed) { o.Verified = true }
	voided := func(o *Observed) { o.Void = &void }
	paused := func(o *Observed) { o.Cluster.Paused = true }
	works := func(o *Observed) { o.Run, o.Pod = &Run{Attempt: 1, Started: noon}, &retry.Pod{Running: true} }
	outdated := func(o *Observed) { o.Cluster.Again, o.SavedAt = true, noon.AddDate(0, 0, -1) }
	asked := func(changes ...func(*Observed)) Observed {
		o := replacing(down, nil)
		of(stale, verified)(&o)
		both(changes...)(&o)
		return o
	}
	first := Start{Run{Attempt: 1, Started: noon}}
	table(t, map[string]row{
		"it is saved":                             {verifying(of()), first},
		"it is being saved":                       {verifying(of(works)), Wait{Reason: v1beta2.ReasonSaving}},
		"it is saved, and then verified":          {verifying(of(stale)), first},
		"it is being verified":                    {verifying(of(stale, works)), Wait{Reason: v1beta2.ReasonVerifying}},
		"it is saved and verified":                {verifying(of(stale, verified)), Enter{Phase: v1beta2.RestoreSaving}},
		"it is not saved again":                   {saving(of(stale, outdated)), Replace{}},
		"its cluster is paused":                   {saving(of(stale, paused)), Wait{Reason: v1beta2.ReasonPaused}},
		"nobody answers":                          {verifying(both(mute, of())), Fail{Reason: v1beta2.ReasonEtcdUnreachable}},
		"void, before it is saved":                {verifying(of(voided)), Fail{Reason: void.Reason}},
		"void, while it is saved":                 {verifying(of(works, voided)), Fail{Reason: void.Reason}},
		"void, once it is verified":               {saving(of(stale, voided)), Fail{Reason: void.Reason}},
		"void, before the cluster has begun":      {asked(voided), Fail{Reason: void.Reason}},
		"asked for":                               {asked(), Wait{Reason: v1beta2.ReasonRestoring}},
		"asked for, a long time ago":              {asked(outdated), Wait{Reason: v1beta2.ReasonRestoring}},
		"asked for, of a cluster that is paused":  {asked(paused), Wait{Reason: v1beta2.ReasonPaused}},
		"void, and the cluster has begun with it": {asked(voided, func(o *Observed) { o.Cluster.Record = &Record{} }), Wait{Reason: v1beta2.ReasonRestoring}},
	})
}
