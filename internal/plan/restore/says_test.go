package restore

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestFailSays wants a failure to say what it left and what to do.
func TestFailSays(t *testing.T) {
	for want, o := range map[string]Observed{
		"use another one; nothing was done to the cluster": verifying(tried(1, &damaged)),
		"spec.safetySnapshot: Skip":                        saving(tried(1, &refused)),
		"c-0 may have it on an emptyDir":                   saving(both(mute, func(o *Observed) { o.Cluster.Volatile = []string{"c-0"} })),
		"bring a quorum of its members back first; one with spec.safetySnapshot: Skip": saving(func(o *Observed) {
			o.Saved, o.Stale, o.Cluster.Volatile = true, true, []string{"c-0"}
		}),
		"its old data may be gone":              replacing(Cluster{}, &Record{}),
		"resumes with its previous data":        replacing(up, &Record{Canceled: &damaged}),
		"deleted before anything was replaced":  deleted(replacing(up, nil)),
		"waited for until 2026-01-02T11:30:00Z": verifying(func(o *Observed) { o.Cluster, o.Created = Cluster{}, noon.Add(-90*time.Minute) }),
	} {
		got := Describe(Next(o)).Message
		if !strings.Contains(got, want) || !strings.HasSuffix(got, "create another EtcdRestore to try again") {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	superseded := failure.Problem{Reason: v1beta2.ReasonRestoreSuperseded, Message: "r has taken its place"}
	cross := func(r Record) Observed {
		return saving(func(o *Observed) { o.Cluster.Record = &r })
	}
	gone := cross(Record{})
	gone.Cluster.Deleting = true
	newer := func(o *Observed) { o.Newer = "r" }
	for _, c := range []struct {
		o         Observed
		says, not string
	}{
		{verifying(both(newer, func(o *Observed) { o.Verified = true })), "nothing was done to the cluster for this one", "create another"},
		{func() Observed { o := replacing(up, nil); newer(&o); return o }(), "nothing was done to the cluster for this one", "create another"},
		{replacing(up, &Record{Canceled: &superseded}), "is up to that one", "resumes"},
		{replacing(up, &Record{Canceled: &superseded}), "r has taken its place", "create another"},
		{cross(Record{Canceled: &superseded}), "is up to that one", "nothing was done"},
		{replacing(up, &Record{Superseded: true}), "not completed", "create another"},
		{cross(Record{Canceled: &damaged}), "resumes with its previous data; create another", "nothing was done"},
		{gone, "its old data may be gone", "nothing was done"},
		{deleted(replacing(up, &Record{})), "if enough of its former members can come back", "is being canceled"},
	} {
		if got := Describe(Next(c.o)).Message; !strings.Contains(got, c.says) || strings.Contains(got, c.not) {
			t.Errorf("it says %q, want %q, and not %q", got, c.says, c.not)
		}
	}
	for title, a := range map[string]Action{
		"refused":  saving(func(*Observed) {}).Refuse("Reason", "size"),
		"deleting": Next(saving(both(tried(1, nil), func(o *Observed) { o.Cluster.Deleting = true }))),
		"unfit":    Next(saving(both(tried(1, nil), func(o *Observed) { o.Unfit = &unfit }))),
	} {
		if got := Describe(a).Message; strings.Contains(got, "Skip") || !strings.Contains(got, "nothing was done to the cluster") {
			t.Errorf("%s: it is not for what is saved, and it says %q", title, got)
		}
	}
}

// TestSuccessSays wants the volumes to be named that a restore leaves, and whether all of it is known to be saved.
func TestSuccessSays(t *testing.T) {
	for _, unsaved := range []bool{false, true} {
		r := &Record{Completed: true, Kept: []string{"c-0", "c-1"}, Unsaved: unsaved}
		got := Describe(Next(replacing(up, r))).Message
		if !strings.Contains(got, "kubectl delete pvc c-0 c-1") || strings.Contains(got, "may not hold all of it") != unsaved {
			t.Errorf("it says %q", got)
		}
	}
}
