package world

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestSeedForesees seeds a world from what the operator sees in every state on the way from one spec to another, and wants it to
// foresee from there what happens in the world that was looked at.
func TestSeedForesees(t *testing.T) {
	three := Spec{Size: 3, Persistent: true, Version: "3.6.16"}
	for title, edit := range map[string]func(*Spec){
		"update":           func(s *Spec) { s.Version = "3.7.3" },
		"downgrade":        func(s *Spec) { s.Version = "3.5.35" },
		"growth by TLS":    func(s *Spec) { s.Size = 5 },
		"growth, switched": func(s *Spec) { s.Size = 5 },
		"update by TLS":    func(s *Spec) { s.Version = "3.7.3" },
		"growth":           func(s *Spec) { s.Size = 5 },
		"shrinking":        func(s *Spec) { s.Size = 1 },
		"new pods":         func(s *Spec) { s.Template = 1 },
		"labels":           func(s *Spec) { s.Labels = 1 },
		"resources":        func(s *Spec) { s.Resources = 1 },
		"room":             func(s *Spec) { s.Storage = 1 },
		"pause":            func(s *Spec) { s.Paused = true },
		"other kind":       func(s *Spec) { s.Class = 1 },
		"all at once":      func(s *Spec) { s.Version, s.Size, s.Template = "3.7.3", 1, 1 },
		"no emptyDirs":     func(s *Spec) { s.Persistent = false },
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			begin := three
			if strings.HasSuffix(title, "by TLS") {
				begin.Transport = member.Transport{PeerTLS: true, ClientTLS: true}
			}
			w := New(&Config{Next: plan.Next}, begin)
			w.Settle()
			if strings.HasSuffix(title, "switched") {
				w.Spec.Transport = member.Transport{PeerTLS: true, ClientTLS: true}
				w.Settle()
			}
			edit(&w.Spec)
			foreseesAllTheWay(t, w)
		})
	}
}

// foreseesAllTheWay compares what a world foresees with what one does that is seeded from what is observed of it, in every state of a fair run.
func foreseesAllTheWay(t *testing.T, w *World) {
	t.Helper()
	states := 0
	for range fairLimit {
		if o := w.Observe(&w.Kube); w.Cache == nil && o.Etcd.Contact == plan.ContactQuorum {
			foreseesTheSame(t, w, o)
			states++
		}
		m, known, more := w.fairMove(surroundingsFirst, w.Key(), nil)
		if !more {
			break
		}
		w = w.fairly(m, known)
	}
	t.Logf("%d states, %d steps", states, len(w.Foresee().Steps))
}

func foreseesTheSame(t *testing.T, w *World, o plan.Observed) {
	t.Helper()
	seeded, err := Seed(o)
	if err != nil {
		t.Fatalf("%v, where the operator decides %s", err, Notation(plan.Next(o)))
	}
	want, got := notations(w.Foresee()), notations(seeded.Foresee())
	if !slices.Equal(want, got) {
		t.Fatalf("where it decides %s, it foresees\n%s\nnot\n%s", Notation(plan.Next(o)), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// notations tell actions by what they do, whatever a new node or object is called, and whose alarm it is if any member could have raised it.
func notations(f Foreseen) (all []string) {
	for _, s := range f.Steps {
		text := strings.ReplaceAll(Notation(s.Action), "the node of ", "n-")
		if strings.HasPrefix(text, "disarm NOSPACE") {
			text = "disarm NOSPACE"
		}
		all = append(all, text)
	}
	if f.End != nil {
		all = append(all, Notation(f.End))
	}
	return all
}

// TestSeedAfterFaults does so in states that faults have led to: those without a quorum it refuses, and in all others the operator
// decides the same, and comes to rest in the end.
func TestSeedAfterFaults(t *testing.T) {
	s := Scenario{Running: true, Lockstep: true, SafetyOnly: true, Faults: 1, Kinds: PodFaults}
	s.Spec = Spec{Size: 3, Persistent: true, Version: "3.6.16"}
	up := s.Spec
	up.Version = "3.7.3"
	s.Edits = []Spec{up}
	looked, agreed := 0, 0
	s.Next = func(o plan.Observed) plan.Action {
		const every, most = 20, 10
		looked++
		switch w, err := Seed(o); {
		case err == nil:
			if agreed++; agreed%every == 0 && w.Foresee().End == nil {
				t.Errorf("it comes to no rest from where it decides %s", Notation(plan.Next(o)))
			}
		case o.Etcd.Contact == plan.ContactQuorum && o.Cluster.ID != 0 && looked-agreed < most:
			t.Errorf("%v, and not %s", err, Notation(plan.Next(o)))
		}
		return plan.Next(o)
	}
	report := Explore(s)
	t.Logf("%v, of %d observations the model goes on from %d", report, looked, agreed)
	if report.Violation != nil {
		t.Error(report.Violation)
	}
}

// TestSeedRefuses says of what it knows too little.
func TestSeedRefuses(t *testing.T) {
	w := New(&Config{Next: plan.Next}, Spec{Size: 3, Persistent: true, Version: "3.6.16"})
	w.Settle()
	for why, change := range map[string]func(*plan.Observed){
		"being deleted":      func(o *plan.Observed) { o.Cluster.Deleting = true },
		"not been up":        func(o *plan.Observed) { o.Cluster.ID = 0 },
		"a restore":          func(o *plan.Observed) { o.Cluster.Restore = "r" },
		"no quorum":          func(o *plan.Observed) { o.Etcd = plan.Etcd{} },
		"refuses something":  func(o *plan.Observed) { o.Refused = []plan.Refusal{{}} },
		"other objects":      func(o *plan.Observed) { o.Conflicts = []plan.Conflict{{}} },
		"switched to TLS":    func(o *plan.Observed) { o.Cluster.SpecTransport = member.Transport{PeerTLS: true} },
		"not accepted":       func(o *plan.Observed) { o.Etcd.Handshakes = []plan.HandshakeFailure{{}} },
		"not the cluster's":  func(o *plan.Observed) { o.Volumes[0].Owned = false },
		"coreos":             func(o *plan.Observed) { o.Pods[0].Legacy = true },
		"another repository": func(o *plan.Observed) { o.Pods[0].Drift.Image = true },
		"cannot be given":    func(o *plan.Observed) { o.Pods[0].ResizeRefused = true },
		"not in the model": func(o *plan.Observed) { // nobody knows what the members go back to
			o.Pods[0].Resizing = "Deferred"
			o.Cluster.Tuned.Resized = plan.Resized{Now: plan.Resources{CPU: 1300}, Before: plan.Resources{CPU: 1000}, Since: base.Add(-time.Hour)}
		},
		"does not have all": func(o *plan.Observed) {
			for _, a := range o.Etcd.Answers { // the leader's disk is slow, which is not looked at
				d := plan.Disk{Pod: a.Pod, PodUID: a.PodUID, Watched: time.Minute, FlushTime: time.Millisecond}
				if a.Leader == a.MemberID {
					d.FlushTime = time.Second
				}
				o.Etcd.Disks = append(o.Etcd.Disks, d)
			}
		},
	} {
		o := w.Observe(&w.Kube)
		change(&o)
		if _, err := Seed(o); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}
