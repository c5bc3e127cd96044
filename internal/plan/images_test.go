package plan

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestDigests wants an image by another digest to restart nobody, and to be on the node before anything else restarts its member.
func TestDigests(t *testing.T) {
	const pinned, newer = "quay.io/coreos/etcd:v3.6.16@sha256:0123", "quay.io/coreos/etcd:v3.7.3@sha256:4567"
	other := func(o *Observed) {
		o.Cluster.Pinned = version.Pinned{pinned, newer}
		for i := range o.Pods {
			o.Pods[i].OtherImage = true
		}
	}
	everywhere := func(image string) Action {
		return PrepullImages{[]NodeImage{{"n0", image}, {"n1", image}, {"n2", image}}}
	}
	recreated := closed(pulledImages(edit(healthyCluster(3, true), other, template(0, 1, 2))))
	check(t, map[string]planCase{
		"alone":                     {edit(healthyCluster(3, true), other), Idle{Reason: v1beta2.ReasonSpecReached}},
		"of two alone":              {edit(healthyCluster(2, false), other), Idle{Reason: v1beta2.ReasonSpecReached}},
		"with another template":     {edit(healthyCluster(3, true), other, template(0, 1, 2)), everywhere(pinned)},
		"pulled":                    {unserved(recreated, 1), Recreate{Name: "c-1", UID: "p1", Version: "3.6.16"}},
		"with another version":      {edit(healthyCluster(3, true), other, to("3.7.3")), everywhere(newer)},
		"where there is no digest":  {edit(healthyCluster(3, true), other, to("3.6.17")), everywhere("quay.io/coreos/etcd:v3.6.17")},
		"one that cannot be pulled": {edit(recreated, unpullable), Wait{Reason: v1beta2.ReasonUpdateStopped}},
	})
}

func unpullable(o *Observed) { o.PrepullPods[1].Done, o.PrepullPods[1].Problem = false, "not found" }

// TestUnpulledKeepsItsVolume gives up no member whose data is there for an image that cannot be pulled: its replacement would run the same.
func TestUnpulledKeepsItsVolume(t *testing.T) {
	unpulled := func(o *Observed) {
		p := &o.Pods[1]
		p.Phase, p.Ready, p.StartProblem, p.ProblemAnywhere, p.Created = Pending, false, "container etcd: ErrImagePull: not found", true, now.Add(-2*pendingLimit)
	}
	for name, c := range map[string]struct {
		o     Observed
		gives bool
	}{
		"on a volume":        {closed(edit(silent(healthyCluster(3, true), 1), unpulled)), false},
		"one of two":         {closed(edit(silent(healthyCluster(2, true), 1), unpulled)), false},
		"on an emptyDir":     {closed(edit(silent(healthyCluster(3, false), 1), unpulled)), true},
		"its volume is lost": {closed(edit(silent(healthyCluster(3, true), 1), unpulled, func(o *Observed) { o.Volumes[1].Lost = true })), true},
	} {
		if a, gives := Next(c.o).(RemoveMember); gives != c.gives {
			t.Errorf("%s: %+v, %T", name, a, Next(c.o))
		}
	}
}

// TestNodeTakesItsTime gives no member up whose node has come back after a long time, and has just begun to start its pod again.
func TestNodeTakesItsTime(t *testing.T) {
	const long = 2 * silentLimit
	pending := func(problem, waitsFor string, prepared time.Duration) Observed {
		return closed(edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
			p := &o.Pods[1]
			p.Phase, p.Ready, p.StartProblem, p.WaitsFor = Pending, false, problem, waitsFor
			p.Created, p.ReadyChanged, p.Prepared = now.Add(-long), now.Add(-long), now.Add(-prepared)
		}))
	}
	const problem, volume = "container first: CreateContainerError: context deadline exceeded", "node n has not prepared it"
	for name, c := range map[string]struct {
		o     Observed
		gives bool
	}{
		"it fails for the first time":  {pending(problem, "", time.Minute), false},
		"it has failed for long":       {pending(problem, "", long), true},
		"the volume is being attached": {pending("", volume, time.Minute), false},
		"it is never attached":         {pending("", volume, long), true},
	} {
		if a, gives := Next(c.o).(RemoveMember); gives != c.gives {
			t.Errorf("%s: %+v, %T", name, a, Next(c.o))
		}
	}
}
