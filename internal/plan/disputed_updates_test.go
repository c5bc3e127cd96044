package plan

import (
	"testing"
	"time"
)

// silentSplit is a cluster whose last member does not answer, with that change, and with all images on their nodes, where no majority agrees on the data.
func silentSplit(persistent bool, change func(*Observed)) Observed {
	return edit(closed(unserved(silent(healthyCluster(3, persistent), 2), 2)), change, func(o *Observed) {
		for _, p := range o.Pods {
			o.PrepullPods = append(o.PrepullPods, PrepullPod{Node: p.Node, Image: o.Cluster.Image(newView(*o).versionFor(p)), Done: true})
		}
		o.Cluster.Doubt.Split = true
	})
}

// TestSplitUpdatesNobodyThatRuns: while nobody knows whose data is right, a voter that the operator does not hear is neither restarted for an update nor
// replaced. One that cannot run as it is gets the spec if its data stays: only then can the data be compared again.
func TestSplitUpdatesNobodyThatRuns(t *testing.T) {
	image := func(o *Observed) { o.Pods[2].Drift.Image = true }
	template := func(o *Observed) { o.Pods[2].Drift.Template = true }
	for title, c := range map[string]struct {
		change      func(*Observed)
		persistent  bool
		dataRemains bool
		comparable  bool
	}{
		"the image, on a volume":          {image, true, true, true},
		"the image, on an emptyDir":       {image, false, true, true},
		"the release, on a volume":        {func(o *Observed) { o.Cluster.Version = "3.6.17" }, true, true, false},
		"the release that the others run": {releasedToOthers, true, true, true},
		"the pod, on a volume":            {template, true, true, true},
		"the pod, on an emptyDir":         {template, false, false, true},
		"another kind of volume":          {func(o *Observed) { o.Volumes[2].Drift = true }, true, false, true},
		"a volume that cannot grow": {func(o *Observed) {
			o.Cluster.VolumeSize, o.Volumes[0].Requested, o.Volumes[1].Requested, o.Volumes[2].NotExpandable = 2, 2, 2, true
		}, true, false, true},
	} {
		split := silentSplit(c.persistent, c.change)
		for state, of := range map[string]struct {
			o        Observed
			restarts bool
		}{
			"does not answer":                      {split, false},
			"cannot run":                           {unable(split), c.dataRemains && c.comparable},
			"has not started for long":             {neverStarted(split, time.Hour, "its node has not prepared it"), c.dataRemains && c.comparable},
			"is said not to have, and answers":     {leaderless(neverStarted(split, time.Hour, "its node has not prepared it")), false},
			"has not started yet":                  {neverStarted(split, 5*time.Minute, "its node has not prepared it"), false},
			"pulls its image for long":             {neverStarted(split, time.Hour, ""), false},
			"does not answer, and all agree":       {edit(split, sameData), c.dataRemains},
			"cannot run, and all agree":            {unable(edit(split, sameData)), c.dataRemains},
			"is a learner, and does not answer":    {edit(split, learnerLast), c.dataRemains},
			"does not answer, and the mode is Off": {trusted(split), c.dataRemains},
		} {
			got, restarts := Next(of.o), false
			switch got.(type) {
			case SetImage, Recreate:
				restarts = true
			case Wait:
			default:
				t.Errorf("%s, and it %s: %#v", title, state, got)
			}
			if restarts != of.restarts {
				t.Errorf("%s, and it %s: %#v", title, state, got)
			}
		}
	}
}

// unable has the last member's etcd end at every start.
func unable(o Observed) Observed {
	return edit(o, func(o *Observed) { o.Pods[2].StartProblem, o.Pods[2].Ready = "etcd ends at every start", false })
}

// neverStarted has nothing of the last member's pod have started since then, and wait for that.
func neverStarted(o Observed, since time.Duration, waitsFor string) Observed {
	return edit(o, func(o *Observed) {
		o.Pods[0].ReadyChanged, o.Pods[1].ReadyChanged = now.Add(-2*time.Hour), now.Add(-2*time.Hour)
		p := &o.Pods[2]
		p.Phase, p.IP, p.Ready, p.WaitsFor = Pending, "", false, waitsFor
		p.Created, p.ReadyChanged = now.Add(-since), now.Add(-since)
	})
}

// releasedToOthers has all but the last member run the release that the spec asks for.
func releasedToOthers(o *Observed) {
	o.Cluster.Version = "3.6.17"
	for i := range 2 {
		o.Pods[i].Version, o.Etcd.Answers[i].Version, o.Volumes[i].Version = "3.6.17", "3.6.17", "3.6.17"
	}
}

// leaderless has the last member answer, and follow nobody.
func leaderless(o Observed) Observed {
	return edit(o, func(o *Observed) {
		a := answerOf(2)
		a.Leader = 0
		o.Etcd.Answers = append(o.Etcd.Answers, a)
	})
}

// TestOldLogsGetNoNewEtcd: while logs may hold entries that etcd 3.7 cannot read, a member that is down gets no 3.7 either, whether or not it can run as
// it is.
func TestOldLogsGetNoNewEtcd(t *testing.T) {
	for title, o := range map[string]Observed{
		"it does not answer": silentSplit(true, toMinor37), "it cannot run": unable(silentSplit(true, toMinor37)),
	} {
		for dispute, o := range map[string]Observed{"": o, ", and all agree": edit(o, sameData)} {
			switch got := Next(o).(type) {
			case SetImage, Recreate:
				t.Errorf("%s%s: %#v", title, dispute, got)
			default:
			}
			snapshotted := edit(o, func(o *Observed) { o.Cluster.SnapshotDue = false })
			if _, set := Next(snapshotted).(SetImage); !set && dispute != "" {
				t.Errorf("%s%s, and logs hold no old entries: %#v", title, dispute, Next(snapshotted))
			}
		}
	}
}

// toMinor37 asks a cluster for etcd 3.7 whose members came from 3.5.
func toMinor37(o *Observed) { o.Cluster.Version, o.Cluster.SnapshotDue = "3.7.3", true }

func sameData(o *Observed) { o.Cluster.Doubt = Doubt{} }
func learnerLast(o *Observed) {
	o.Etcd.Members[2].Learner, o.Cluster.Voters = true, o.Cluster.Voters[:2]
}
