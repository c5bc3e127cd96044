package etcdtest_test

import (
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"
)

// stories are the steps that matter to the operator, each with what is special about it.
var stories = []struct {
	title                 string
	founders, maxLearners int
	steps                 []step
}{
	{"grow from 1 to 3", 1, 8, []step{
		{promote, 0},
		{addLearner, 1},
		{addLearner, 1},
		{promote, 1},
		{startJoin, 1},
		{promote, 1},
		{promote, 1},
		{addLearner, 2},
		{startJoin, 2},
		{promote, 2},
		{moveLeader, 2},
		{remove, 0},
		{remove, 0},
	}},
	{"two learners at once", 1, 8, []step{
		{addLearner, 1}, {addLearner, 2}, {startJoin, 1}, {startJoin, 2}, {moveLeader, 1}, {promote, 2}, {promote, 1},
	}},
	{"one learner at a time", 1, 1, []step{
		{addLearner, 1}, {addLearner, 2}, {startJoin, 1}, {promote, 1}, {addLearner, 2}, {remove, 2}, {remove, 2},
	}},
	{"a learner that stops is promoted all the same", 1, 8, []step{
		{addLearner, 1}, {startJoin, 1}, {stop, 1}, {promote, 1}, {resume, 1},
	}},
	{"a new leader knows nothing of a learner that is down", 3, 8, []step{
		{addLearner, 3},
		{startJoin, 3},
		{stop, 3},
		{moveLeader, 1},
		{moveLeader, 2},
		{promote, 3},
		{resume, 3},
		{promote, 3},
	}},
	{"joining needs the right list, and a peer", 1, 8, []step{
		{addLearner, 1}, {startJoinAlone, 1}, {stop, 0}, {startJoin, 1}, {resume, 0}, {startJoin, 1},
	}},
	{"the last voter cannot go", 1, 8, []step{{remove, 0}, {addLearner, 1}, {startJoin, 1}, {remove, 0}, {remove, 1}}},
	{"one of three down", 3, 8, []step{
		{stop, 2}, {addLearner, 3}, {remove, 0}, {remove, 1}, {remove, 2}, {addLearner, 3}, {startJoin, 3}, {promote, 3},
	}},
	{"no quorum, no changes", 3, 8, []step{
		{stop, 2}, {stop, 1}, {addLearner, 3}, {remove, 1}, {promote, 1}, {resume, 1}, {remove, 2},
	}},
	{"lost data: out and in again", 3, 8, []step{
		{lose, 1}, {startNew, 1}, {remove, 1}, {addLearner, 1}, {startJoin, 1}, {promote, 1},
	}},
	{"down to one", 3, 8, []step{{remove, 2}, {remove, 1}, {remove, 0}}},
	{"two of two, one down", 2, 8, []step{{stop, 1}, {remove, 1}, {resume, 1}, {remove, 1}}},
	{"two and a third", 2, 8, []step{{addLearner, 2}, {stop, 1}, {resume, 1}, {startJoin, 2}, {promote, 2}}},
	{"moving to who cannot lead", 3, 8, []step{
		{addLearner, 3}, {startJoin, 3}, {moveLeader, 3}, {moveLeader, 1}, {remove, 2}, {moveLeader, 2},
	}},
}

func TestConformance(t *testing.T) {
	together(t, len(stories), func(i int) string { return stories[i].title }, func(t *testing.T, i int) {
		c := stories[i]
		r := newRig(t, 4, c.founders, c.maxLearners)
		r.up(t)
		for _, s := range c.steps {
			r.do(t, s)
		}
		if r.fake.Harm != "" {
			t.Error(r.fake.Harm)
		}
	})
}

// TestConformanceAtRandom takes steps that no one thought of. They are the same in every run.
func TestConformanceAtRandom(t *testing.T) {
	draws := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 8, 8)
	together(t, 8, strconv.Itoa, func(t *testing.T, seed int) {
		r := newRig(t, 4, 1+seed%3, 8)
		r.up(t)
		for _, n := range draws.Example(seed) {
			s := r.choose(n)
			t.Log(s)
			r.do(t, s)
		}
	})
}

// together runs subtests at the same time, whatever -parallel says: they spend their time waiting for etcd's five
// seconds.
func together(t *testing.T, n int, title func(i int) string, test func(t *testing.T, i int)) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for i := range n {
		group.Go(func() error {
			t.Run(title(i), func(t *testing.T) { test(t, i) })
			return nil
		})
	}
	_ = group.Wait()
}
