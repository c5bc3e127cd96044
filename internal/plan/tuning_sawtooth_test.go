package plan

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// sawtooth is a cluster whose clients write, and delete and compact again what they have written.
type sawtooth struct {
	o Observed
	// acts are the decisions that changed anything, and reasons those of what was held, each once in a row.
	acts    []Action
	reasons []string
}

// looks has the planner look while so much is in use in every member, a minute after the last time. What it decides is done by the next time:
// every member has its quota. No file shrinks.
func (s *sawtooth) looks(inUse int64) {
	s.o = edit(s.o, func(o *Observed) {
		o.Now = o.Now.Add(time.Minute)
		for i := range o.Etcd.Answers {
			a := &o.Etcd.Answers[i]
			a.DBSize, a.DBSizeInUse = max(a.DBSize, inUse), inUse
		}
	})
	action, known := Decide(s.o)
	if Mutates(action) {
		s.acts = append(s.acts, action)
	}
	for _, h := range known.Held {
		if n := len(s.reasons); n == 0 || s.reasons[n-1] != h.Reason {
			s.reasons = append(s.reasons, h.Reason)
		}
	}
	s.o.Cluster.Record = s.o.Cluster.Apply(action, s.o)
	if raised := s.o.Cluster.Tuned.Quota; raised != 0 {
		s.o = edit(s.o, func(o *Observed) {
			o.Cluster.Quota = raised
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Quota = raised
			}
		})
	}
}

// day goes up from two fifths of a quota of 2Gi to a peak, and drops again, every half an hour for a day.
func (s *sawtooth) day(peak int64) {
	const steps, teeth = 30, 48
	low := int64(2*gibi) / tenth * 4
	for range teeth {
		for i := range int64(steps) {
			s.looks(low + (peak-low)*i/(steps-1))
		}
	}
}

// fourFifths is as much of a quota of 2Gi as may be in use.
const fourFifths = 2 * gibi / tenth * 8

// TestSawtoothBelow never raises the quota for a load that deletes and compacts what it has written before more than four fifths are in use,
// however steep it is: what is freed is used again. The same load acts at the first byte above that.
func TestSawtoothBelow(t *testing.T) {
	s := sawtooth{o: filled(gibi)}
	s.day(fourFifths)
	if len(s.acts) > 0 || len(s.reasons) > 0 {
		t.Fatalf("after a day of peaks of four fifths: %#v, held for %v", s.acts, s.reasons)
	}
	s.looks(fourFifths + 1)
	if len(s.acts) != 1 || s.acts[0].(CommitTuning).Tuned != raised(3*gibi, 2*gibi) {
		t.Errorf("one byte above that: %#v", s.acts)
	}
}

// TestSawtoothAbove raises the quota once for peaks that cross four fifths of it, as the first one is seen: after that they are far below the
// new one. While something else comes first they are held, and a peak that is over is not made up for.
func TestSawtoothAbove(t *testing.T) {
	const peak = 2 * gibi / tenth * 9
	s := sawtooth{o: filled(gibi)}
	s.day(peak)
	if len(s.acts) != 1 || s.acts[0].(CommitTuning).Tuned != raised(3*gibi, 2*gibi) || len(s.reasons) > 0 {
		t.Errorf("after a day of peaks of nine tenths: %#v, held for %v", s.acts, s.reasons)
	}
	s = sawtooth{o: filled(gibi, func(o *Observed) { o.Cluster.Autopilot.Window.Set = true })}
	s.day(peak)
	if len(s.acts) > 0 || len(s.reasons) != 1 || s.reasons[0] != v1beta2.ReasonWaitingForWindow {
		t.Errorf("while the window is closed: %#v, held for %v", s.acts, s.reasons)
	}
	s.o.Cluster.Autopilot.Window.Open = true
	s.looks(gibi)
	if known := Assess(s.o); len(s.acts) > 0 || len(known.Held) > 0 {
		t.Errorf("once it opens, and the peak is over: %#v, held: %+v", s.acts, known.Held)
	}
}
