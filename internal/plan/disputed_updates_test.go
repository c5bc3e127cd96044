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
	}{
		"the image, on a volume":    {image, true, true},
		"the image, on an emptyDir": {image, false, true},
		"the release, on a volume":  {func(o *Observed) { o.Cluster.Version = "3.6.17" }, true, true},
		"the pod, on a volume":      {template, true, true},
		"the pod, on an emptyDir":   {template, false, false},
		"another kind of volume":    {func(o *Observed) { o.Volumes[2].Drift = true }, true, false},
		"a volume that cannot grow": {func(o *Observed) {
			o.Cluster.VolumeSize, o.Volumes[0].Requested, o.Volumes[1].Requested, o.Volumes[2].NotExpandable = 2, 2, 2, true
		}, true, false},
	} {
		split := silentSplit(c.persistent, c.change)
		for state, of := range map[string]struct {
			o        Observed
			restarts bool
		}{
			"does not answer":                      {split, false},
			"cannot run":                           {unable(split), c.dataRemains},
			"has not started for long":             {neverStarted(split, time.Hour, "its node has not prepared it"), c.dataRemains},
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

func sameData(o *Observed) { o.Cluster.Doubt = Doubt{} }
func learnerLast(o *Observed) {
	o.Etcd.Members[2].Learner, o.Cluster.Voters = true, o.Cluster.Voters[:2]
}
