package plan

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestShrinkToWhoeverFollows has a voter that is far behind go before one that is not: of three that are left, two would be needed at once.
func TestShrinkToWhoeverFollows(t *testing.T) {
	o := healthyCluster(6, true)
	o.Cluster.Size = 3
	for i := range o.Etcd.Answers {
		o.Etcd.Answers[i].Applied, o.Etcd.Answers[i].Committed = 50_000, 50_000
	}
	o.Etcd.Answers[1].Applied = 100
	if got := newView(o).NextToRemove.Name; got != "c-5" {
		t.Errorf("c-1 is far behind at one look, and %q goes", got)
	}
	o.Etcd.Answers[1].Behind = lagPatience
	if got := newView(o).NextToRemove.Name; got != "c-1" {
		t.Errorf("c-1 has been far behind for a while, and %q goes", got)
	}
}

// TestFarBehind compares voters with what a majority of them knows to be committed.
func TestFarBehind(t *testing.T) {
	at := func(applied ...uint64) Observed {
		return edit(healthyCluster(3, true), func(o *Observed) {
			for i := range applied {
				o.Etcd.Answers[i].Applied, o.Etcd.Answers[i].Committed = applied[i], applied[i]
			}
		})
	}
	for title, c := range map[string]struct {
		o    Observed
		want []string
	}{
		"none":             {at(5000, 5000, 4000), nil},
		"one":              {at(5000, 5000, 3999), []string{"p2"}},
		"one is far ahead": {at(5000, 5000, 1<<40), nil},
		"it knows, and is not done with it": {
			edit(at(5000, 5000, 0), func(o *Observed) { o.Etcd.Answers[2].Committed = 5000 }), []string{"p2"},
		},
		"a learner":                         {edit(at(5000, 5000, 0), func(o *Observed) { o.Etcd.Members[2].Learner = true }), nil},
		"it answers in another one's place": {edit(at(5000, 5000, 0), func(o *Observed) { o.Etcd.Answers[2].MemberID++ }), nil},
	} {
		if got := c.o.Etcd.FarBehind(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", title, got, c.want)
		}
	}
}

// TestLaggards are reported once they have been behind for a while, and hold nothing up by themselves.
func TestLaggards(t *testing.T) {
	behind := func(d time.Duration) Observed {
		return edit(healthyCluster(3, true), func(o *Observed) { o.Etcd.Answers[1].Behind = d })
	}
	if got := Assess(behind(lagPatience - 1)).Laggards; got != nil {
		t.Errorf("at once: %+v", got)
	}
	got := Assess(behind(lagPatience)).Laggards
	if got == nil || !strings.HasPrefix(got.Message, "c-1: ") {
		t.Fatalf("after a while: %+v", got)
	}
	if later := Assess(behind(time.Hour)).Laggards; *later != *got {
		t.Errorf("%+v, and after an hour %+v", got, later)
	}
	if a, b := Next(behind(0)), Next(behind(time.Hour)); a != b {
		t.Errorf("%+v, and with one behind %+v", a, b)
	}
}

// TestPromoteInSync: a learner that etcd would let vote already is not promoted while it is further behind than a voter may be, if the others are no
// quorum without it.
func TestPromoteInSync(t *testing.T) {
	behind := func(entries uint64) Observed {
		return edit(closed(started(withLearner(edit(healthyCluster(3, false), func(o *Observed) { o.Cluster.Size = 4 }), 3))), func(o *Observed) {
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Committed, o.Etcd.Answers[i].Applied = 100_000, 100_000
			}
			o.Etcd.Answers[3].Applied -= entries
		})
	}
	for title, c := range map[string]struct {
		o        Observed
		promotes bool
	}{
		"all others are there":                  {behind(LagLimit + 1), true},
		"it is needed, and in sync":             {silent(behind(LagLimit), 2), true},
		"it is needed, and further behind":      {silent(behind(LagLimit+1), 2), false},
		"it is further behind than etcd allows": {behind(20_000), false},
	} {
		if got, promotes := Next(c.o).(Promote); promotes != c.promotes {
			t.Errorf("%s: %+v, %+v", title, got, Next(c.o))
		}
	}
}
