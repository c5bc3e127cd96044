package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestHibernate stops all members only once nothing is under way, and each of them has its data on a volume.
func TestHibernate(t *testing.T) {
	asked := func(o *Observed) { o.Cluster.Hibernate = true }
	all := CommitHibernation{Hibernation: Hibernated, Members: []string{"c-0", "c-1", "c-2"}}
	for title, c := range map[string]struct {
		o    Observed
		acts bool
	}{
		"all is well":              {edit(healthyCluster(3, true), asked), true},
		"nobody asks for it":       {healthyCluster(3, true), false},
		"on emptyDirs":             {edit(healthyCluster(3, false), asked), false},
		"it is paused":             {edit(healthyCluster(3, true), asked, func(o *Observed) { o.Cluster.Paused = true }), false},
		"a member does not answer": {edit(healthyCluster(3, true), asked, func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] }), false},
		"a member is behind": {edit(healthyCluster(3, true), asked, func(o *Observed) {
			for i, applied := range []uint64{5000, 1, 5000} {
				o.Etcd.Answers[i].Applied, o.Etcd.Answers[i].Committed = applied, 5000
			}
		}), false},
		"a member is to be added":               {edit(healthyCluster(3, true), asked, func(o *Observed) { o.Cluster.Size = 5 }), false},
		"a member is to be removed":             {edit(healthyCluster(3, true), asked, func(o *Observed) { o.Cluster.Size = 1 }), false},
		"a member is to be updated":             {edit(healthyCluster(3, true), asked, func(o *Observed) { o.Pods[2].Drift.Template = true }), false},
		"a volume is about to go":               {edit(healthyCluster(3, true), asked, func(o *Observed) { o.Volumes[1].Deleting = true }), false},
		"a volume is of another one":            {edit(healthyCluster(3, true), asked, func(o *Observed) { o.Volumes[1].MemberID = 0xbad }), false},
		"a higher quota is due, which can wait": {edit(filled(1700<<20), asked), true},
		"a snapshot is being taken":             {edit(healthyCluster(3, true), asked, func(o *Observed) { o.Cluster.BackingUp = "EtcdBackup nightly" }), false},
		"the members' data differs": {
			edit(healthyCluster(3, true), asked, func(o *Observed) {
				for i := range o.Etcd.Answers {
					o.Etcd.Answers[i].Alarms = []Alarm{{Kind: AlarmCorrupt, Member: o.Etcd.Members[0].ID}}
				}
			}), false,
		},
		"a member is being replaced for its data": {
			edit(healthyCluster(3, true), asked, func(o *Observed) { o.Cluster.Quarantined = Quarantined{Member: 0xbad, Name: "c-9"} }), false,
		},
		"the spec cannot be carried out": {
			edit(healthyCluster(3, true), asked, func(o *Observed) { o.Cluster.Version = "3.99.0" }), true,
		},
	} {
		got, acts := Next(c.o).(CommitHibernation)
		if acts != c.acts || acts && (got.Hibernation != all.Hibernation || list(got.Members) != list(all.Members)) {
			t.Errorf("%s: %#v", title, Next(c.o))
		}
	}
}

// TestHibernated follows a cluster from the decision until it is up again.
func TestHibernated(t *testing.T) {
	o := edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Hibernate = true })
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	wants := func(title string, o Observed, want Action) {
		t.Helper()
		got := Next(o)
		if g, w := Describe(got), Describe(want); g.Action != w.Action || g.Reason != w.Reason || !strings.Contains(g.Message, w.Message) {
			t.Errorf("%s: %#v, want %#v", title, got, want)
		}
	}
	wants("it is decided", o, DeletePod{Name: "c-0", Why: v1beta2.ReasonHibernating})
	wants("its claim is deleted meanwhile", edit(o, func(o *Observed) { o.Volumes[0].Deleting = true }), CommitHibernation{Hibernation: Waking})
	wants("it is on an emptyDir", edit(o, func(o *Observed) { o.Pods[0].Persistent = false }), CommitHibernation{Hibernation: Waking})
	o.Pods[0].Deleting, o.Pods[0].Deadline = true, o.Now
	wants("one stops", o, DeletePod{Name: "c-1", Why: v1beta2.ReasonHibernating})
	o.Pods, o.Etcd = o.Pods[:1], Etcd{Contact: ContactNone}
	wants("one is left", o, Wait{Reason: v1beta2.ReasonHibernating, Message: "the pods are gone: c-0"})
	o.Pods[0].Deadline, o.Pods[0].Node = o.Now.Add(-time.Hour), "n-0"
	wants("its node is silent", o, Wait{Reason: v1beta2.ReasonHibernating, Message: "the pods are gone: c-0; etcd may still run there, as node n-0 does"})
	o.Pods = nil
	wants("all are stopped", o, Idle{Reason: v1beta2.ReasonHibernated, Message: "c-0, c-1, c-2"})
	wants("a member is still stopping as it is to wake up", edit(o, func(o *Observed) {
		o.Cluster.Hibernate, o.Pods = false, healthyCluster(3, true).Pods[:1]
		o.Pods[0].Deleting, o.Pods[0].Deadline = true, o.Now.Add(time.Minute)
	}), Wait{Reason: v1beta2.ReasonHibernating, Message: "start again once these pods are gone: c-0"})
	if r := o.Cluster.Apply(nil, o); r.Hibernation != Hibernated {
		t.Errorf("it is %q", r.Hibernation)
	}
	o.Cluster.Hibernate = false
	wants("it is to wake up", o, CommitHibernation{Hibernation: Waking})
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	if create, ok := Next(o).(CreatePods); !ok || len(create.Pods) != 3 || create.Pods[0].Permit == nil {
		t.Errorf("as it wakes up: %#v", Next(o))
	}
	wants("it is to sleep on before it is up", edit(o, func(o *Observed) { o.Cluster.Hibernate = true }), CommitHibernation{Hibernation: Hibernated, Members: o.Cluster.Voters})
	if create, ok := Next(edit(o, func(o *Observed) { o.Cluster.Hibernate, o.Cluster.BackingUp = true, "EtcdRestore back" })).(CreatePods); !ok {
		t.Errorf("it is to sleep on, and what is left is being saved: %#v", create)
	}
	if create, ok := Next(edit(o, func(o *Observed) { o.Cluster.Hibernate, o.Volumes = true, o.Volumes[1:] })).(CreatePods); !ok {
		t.Errorf("it is to sleep on, and a volume is gone: %#v", create)
	}
	o.Pods = healthyCluster(3, true).Pods
	wants("no quorum answers yet", o, Wait{Reason: v1beta2.ReasonWaking, Message: "the cluster wakes up; no quorum"})
	up := healthyCluster(3, true)
	up.Cluster.Record.Hibernation = Waking
	if r := up.Cluster.Apply(Next(up), up); r.Hibernation != Awake {
		t.Errorf("once it is up, it is %q", r.Hibernation)
	}
}

// TestRestoreInHibernation has members start again that a restore was to replace, if it is called off.
func TestRestoreInHibernation(t *testing.T) {
	o := healthyCluster(3, true)
	o.Cluster.Hibernation, o.Cluster.Hibernate, o.Pods, o.Etcd = Hibernated, true, nil, Etcd{Contact: ContactNone}
	next := o.Cluster.startAttempt(CommitBootstrap{Bootstrap: Bootstrap{Restore: "restore", Incarnation: 2}}, o)
	if next.Hibernation != Awake || next.Previous == nil || next.goBack().Hibernation != Awake {
		t.Errorf("%+v", next)
	}
}

// TestStopMembersRefused stops those members whose pods may be deleted.
func TestStopMembersRefused(t *testing.T) {
	o := edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Hibernate, o.Cluster.Hibernation = true, Hibernated })
	first := Next(o).(DeletePod)
	o.Refused = []Refusal{{Target: TargetOf(first), Message: "a webhook says no", RetryAt: o.Now.Add(time.Minute)}}
	if got, ok := Next(o).(DeletePod); !ok || got.Name == first.Name {
		t.Errorf("%#v", Next(o))
	}
}

// TestPendingAsItWakes gives no member up whose node takes its time while the whole cluster starts again.
func TestPendingAsItWakes(t *testing.T) {
	waits := edit(healthyCluster(3, true), func(o *Observed) {
		o.Pods[2].Phase, o.Pods[2].Ready, o.Pods[2].StartProblem = Pending, false, "0/3 nodes are available"
		o.Pods[2].Created, o.Pods[2].ReadyChanged = o.Now.Add(-time.Hour), o.Now.Add(-time.Hour)
		o.Etcd.Answers = o.Etcd.Answers[:2]
	})
	ago := func(d time.Duration) time.Time { return waits.Now.Add(-d) }
	for title, c := range map[string]struct {
		first, second time.Time
		given         bool
	}{
		"nothing is known":                 {time.Time{}, time.Time{}, true},
		"a quorum for a minute":            {ago(time.Hour), ago(time.Minute), false},
		"a quorum for long":                {ago(time.Hour), ago(pendingLimit + time.Minute), true},
		"by a clock that is ahead of ours": {ago(time.Hour), ago(-time.Minute), false},
	} {
		o := edit(waits, func(o *Observed) { o.Pods[0].ReadyChanged, o.Pods[1].ReadyChanged = c.first, c.second })
		if why := newView(o).lostReason(o.Etcd.Members[2]); (why != "") != c.given {
			t.Errorf("%s: %q", title, why)
		}
	}
	unready := edit(waits, func(o *Observed) { o.Pods[1].Ready = false })
	if why := newView(unready).lostReason(unready.Etcd.Members[2]); why != "" {
		t.Errorf("as a quorum begins to answer: %q", why)
	}
}

// TestAsleepWithoutVolumes says whose claims were deleted while the members were stopped, and what to do where too few are left.
func TestAsleepWithoutVolumes(t *testing.T) {
	asleep := edit(healthyCluster(3, true), func(o *Observed) {
		o.Cluster.Hibernation, o.Cluster.Hibernate, o.Pods, o.Etcd = Hibernated, true, nil, Etcd{Contact: ContactNone}
	})
	for title, c := range map[string]struct {
		o            Observed
		reason, says string
		blocked      bool
	}{
		"all are there": {asleep, v1beta2.ReasonHibernated, "on volumes c-0, c-1, c-2: set", false},
		"one is gone": {
			edit(asleep, func(o *Observed) { o.Volumes = o.Volumes[1:] }), v1beta2.ReasonHibernated, "on volumes c-1, c-2; those of c-0 are deleted, about to be, or not provably the cluster's", false,
		},
		"one is about to go": {
			edit(asleep, func(o *Observed) { o.Volumes[0].Deleting = true }), v1beta2.ReasonHibernated, "on volumes c-1, c-2; those of c-0 are deleted, about to be, or not provably the cluster's", false,
		},
		"two are gone": {edit(asleep, func(o *Observed) { o.Volumes = o.Volumes[2:] }), v1beta2.ReasonDataLost, "that is no quorum", true},
	} {
		got := Next(c.o)
		_, blocked := got.(Blocked)
		if d := Describe(got); d.Reason != c.reason || !strings.Contains(d.Message, c.says) || blocked != c.blocked {
			t.Errorf("%s: %#v", title, got)
		}
	}
}
