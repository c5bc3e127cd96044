package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// refuse has the API server refuse writes, which are not tried again for a while.
func refuse(targets ...Target) func(*Observed) {
	return func(o *Observed) {
		for _, t := range targets {
			o.Refused = append(o.Refused, Refusal{Target: t, Message: "exceeded quota", Since: now, RetryAt: now.Add(30 * time.Second)})
		}
	}
}

var (
	createC0  = Target{"create", KindPod, "c-0"}
	earlierC0 = Target{"create from the previous spec", KindPod, "c-0"}
	budget    = Target{Verb: "apply", Kind: "PodDisruptionBudget"}
	imageC1   = Target{"change the image of", KindPod, "c-1"}
)

// TestRefused has everything done that does not depend on what the API server refuses.
func TestRefused(t *testing.T) {
	lost := withoutPod(healthyCluster(3, true), 0)
	podOf := func(from bool) NewPod {
		return NewPod{
			Name: "c-0", Incarnation: 1, Persistent: true, Version: "3.6.16", FromPreviousSpec: from, Permit: lost.Volumes[0].resumePermit(),
		}
	}
	editedSpec := func(o *Observed) { o.Cluster.AcceptedSpec, o.Cluster.PreviousSpec, o.Cluster.Spec = "b", "a", "b" }
	updating := pulledImages(edit(healthyCluster(3, true), to("3.7.3")))
	check(t, map[string]planCase{
		"a pod: another voter is served": {edit(withoutPod(unserved(healthyCluster(3, true), 1), 0), refuse(createC0)), AddToService{[]string{"c-1"}}},
		"a pod, and nothing else is to be done": {
			edit(lost, refuse(createC0)), Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"it is time to try again": {
			edit(lost, refuse(createC0), func(o *Observed) { o.Refused[0].RetryAt = now }), CreatePods{[]NewPod{podOf(false)}},
		},
		"a pod of a spec that was edited": {edit(lost, editedSpec, refuse(createC0)), CreatePods{[]NewPod{podOf(true)}}},
		"a pod of both specs": {
			edit(lost, editedSpec, refuse(createC0, earlierC0)), Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"a pod of the spec before": {
			edit(lost, editedSpec, refuse(earlierC0), func(o *Observed) { o.Volumes[0].FromPreviousSpec = true }),
			Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"a pod of the present spec: none is deleted for it": {
			edit(healthyCluster(3, true), refuse(createC0), func(o *Observed) {
				for i := range o.Pods {
					o.Pods[i].Drift.Template = true
				}
			}), Wait{Reason: v1beta2.ReasonWriteRefused},
		},
		"the budget: voters are served without it": {
			edit(unserved(healthyCluster(3, true), 1), func(o *Observed) { o.Budget = Budget{} }, refuse(budget)), AddToService{[]string{"c-1"}},
		},
		"the budget: no voter is disrupted without it": {
			edit(updating, refuse(budget)), Wait{Reason: v1beta2.ReasonWriteRefused},
		},
		"the budget: a voter that was to be updated is served again": {
			edit(unserved(updating, 1), refuse(budget)), AddToService{[]string{"c-1"}},
		},
		"the budget: a voter that was to be removed is served again": {
			edit(unserved(healthyCluster(3, true), 2), func(o *Observed) { o.Cluster.Size = 1 }, refuse(budget)), AddToService{[]string{"c-2"}},
		},
		"an image: clients are not disconnected for it": {
			edit(updating, refuse(imageC1)), Wait{Reason: v1beta2.ReasonWriteRefused},
		},
		"an image: clients are connected again": {edit(unserved(updating, 1), refuse(imageC1)), AddToService{[]string{"c-1"}}},
		"an image: evictions are allowed again": {
			edit(closed(updating), refuse(imageC1)), SetBudget{MinAvailable: 2},
		},
		"the pods that pull an image": {
			edit(healthyCluster(3, true), to("3.7.3"), refuse(pulls(healthyCluster(3, true))...)), SetBudget{MinAvailable: 3},
		},
		"the pods that pull an image, and the budget is raised": {
			closed(edit(healthyCluster(3, true), to("3.7.3"), refuse(pulls(healthyCluster(3, true))...))), RemoveFromService{Pod: "c-1", UID: "p1"},
		},
		"labels: other members get them": {
			edit(healthyCluster(3, true), func(o *Observed) {
				o.Pods[0].Drift.Metadata, o.Pods[1].Drift.Metadata = true, true
			}, refuse(TargetOf(SetMetadata{Name: "c-0"}))), SetMetadata{Name: "c-1", UID: "p1"},
		},
		"labels: the version is updated": {
			edit(closed(updating), func(o *Observed) { o.Pods[0].Drift.Metadata = true }, refuse(TargetOf(SetMetadata{Name: "c-0"}))),
			RemoveFromService{Pod: "c-1", UID: "p1"},
		},
		"one of two new volumes": {
			edit(healthyCluster(1, true), func(o *Observed) {
				o.Cluster.Size = 3
				o.Volumes = append(o.Volumes, Volume{Name: "c-1", UID: "v1", Incarnation: 1, Owned: true})
			}, refuse(TargetOf(CreateVolume{Name: "c-2"}))),
			CreatePods{[]NewPod{{Name: "c-1", Incarnation: 1, Persistent: true, Version: "3.6.16"}}},
		},
		"a write of an earlier group, where the order protects data": {
			edit(unstartedWithVolume(), refuse(TargetOf(AdoptVolume{Name: "c-0"}))), Wait{Reason: v1beta2.ReasonWriteRefused},
		},
	})
}

// pulls are the writes that have the nodes of a cluster pull an image.
func pulls(o Observed) []Target {
	var all []Target
	for _, p := range o.Pods {
		all = append(all, TargetOf(CreatePrepullPod{NodeImage{p.Node, image373}}))
	}
	return all
}

// unstartedWithVolume is a new object that finds the data of an earlier cluster of its name.
func unstartedWithVolume() Observed {
	o := healthyCluster(1, true)
	return Observed{Now: now, Cluster: Cluster{
		Namespace: "ns", Name: "c", UID: "new", Size: 1, Persistent: true, Version: "3.6.16",
	}, Volumes: o.Volumes}
}

// TestRefusedWithoutQuorum creates every pod that is not refused.
func TestRefusedWithoutQuorum(t *testing.T) {
	o := noContact(healthyCluster(3, true))
	o.Pods = nil
	var created []string
	for _, e := range Effects(Next(edit(o, refuse(createC0))), edit(o, refuse(createC0))) {
		created = append(created, TargetOf(e).String())
	}
	if !slices.Equal(created, []string{"create Pod c-1", "create Pod c-2"}) {
		t.Errorf("it does %q", created)
	}
}

// TestRefusedEffects leaves out what is refused and what relies on it, and nothing else.
func TestRefusedEffects(t *testing.T) {
	o := healthyCluster(3, true)
	permits := WritePermits{Permits: []PodPermit{{Pod: "c-0", UID: "p0"}, {Pod: "c-1", UID: "p1"}}}
	all := Effects(permits, o)
	if len(all) != 4 {
		t.Fatalf("two marks and two permits are %d effects", len(all))
	}
	for title, c := range map[string]struct {
		action  Action
		refused Target
		want    []Effect
	}{
		"a mark: its permit is not written":   {permits, TargetOf(all[0]), all[2:]},
		"a permit: its mark is not either":    {permits, TargetOf(all[3]), all[:2]},
		"one of the pods":                     {CreatePods{[]NewPod{{Name: "c-0"}, {Name: "c-1"}}}, createC0, []Effect{CreatePod{NewPod{Name: "c-1"}}}},
		"one of the volumes that are adopted": {Adopt{Volumes: []string{"c-0", "c-1"}}, TargetOf(AdoptVolume{Name: "c-1"}), nil},
		"the image, and with it its mark":     {SetImage{Name: "c-1", UID: "p1", Version: "3.7.3"}, imageC1, nil},
		"no call to etcd":                     {Promote{ID: 1}, Target{}, []Effect{Promote{ID: 1}}},
	} {
		t.Run(title, func(t *testing.T) {
			if got := Effects(c.action, edit(o, refuse(c.refused))); !reflect.DeepEqual(got, c.want) {
				t.Errorf("effects %#v\nwant    %#v", got, c.want)
			}
		})
	}
}

// TestAfterRefused carries on behind the chain that a refused effect begins.
func TestAfterRefused(t *testing.T) {
	effects := []Effect{MarkVolume{}, WritePermit{}, CreatePod{}, AdoptVolume{}, AdoptVolume{}, WriteStatus{}}
	for i, want := range []int{2, 2, 3, 6, 6, 6} {
		if got := AfterRefused(effects, i); got != want {
			t.Errorf("after effect %d follows %d, want %d", i, got, want)
		}
	}
	if got := AfterRefused(effects[:1], 0); got != 1 {
		t.Errorf("after the last effect follows %d", got)
	}
}

// TestTrial asks for a dry run before anything that prepares for an update, and for that member only.
func TestTrial(t *testing.T) {
	known := Assess(pulledImages(edit(healthyCluster(3, true), to("3.7.3"))))
	step := SetImage{Name: "c-1", UID: "p1", Version: "3.7.3"}
	for _, c := range []struct{ action, want Action }{
		{step, step},
		{Recreate{Name: "c-0"}, Recreate{Name: "c-0"}},
		{RemoveFromService{Pod: "c-1"}, step},
		{RemoveFromService{Pod: "c-2"}, nil},
		{SetBudget{MinAvailable: 3}, step},
		{MoveLeader{From: known.Update.Next.ID}, step},
		{MoveLeader{From: 1}, nil},
		{CreatePods{}, nil},
	} {
		if got := Trial(c.action, known); got != c.want {
			t.Errorf("the trial of %#v is %#v", c.action, got)
		}
	}
	if got := Trial(SetBudget{}, Assess(healthyCluster(3, true))); got != nil {
		t.Errorf("without an update it is %#v", got)
	}
}

// TestRefusedIsNamed reports every refusal until it is over, and never that the spec is reached.
func TestRefusedIsNamed(t *testing.T) {
	o := edit(healthyCluster(3, true), refuse(createC0, budget))
	o.Refused[1].RetryAt = now.Add(time.Second)
	w, ok := Next(o).(Wait)
	if !ok || w.After != time.Second || !strings.Contains(w.Message, "the API server refuses to create Pod c-0: exceeded quota; ") ||
		!strings.Contains(w.Message, "apply PodDisruptionBudget") {
		t.Errorf("it is %#v", Next(o))
	}
	e := Explain(edit(unserved(withoutPod(healthyCluster(3, true), 0), 1), refuse(createC0)))
	if !slices.Equal(e.PassedOver, []string{"recreateMissingPods"}) || e.Rule != "addToService" {
		t.Errorf("passed over are %q, and %s decides", e.PassedOver, e.Rule)
	}
}

// TestMarks corrects a volume that names a version which its member never got, once it is not being updated.
func TestMarks(t *testing.T) {
	marked := edit(healthyCluster(3, true), func(o *Observed) { o.Volumes[1].Version = "3.7.3" })
	check(t, map[string]planCase{
		"the spec was reverted":    {marked, CorrectMark{Name: "c-1", UID: "v1", Version: "3.6.16"}},
		"the update goes on":       {closed(pulledImages(edit(marked, to("3.7.3")))), RemoveFromService{Pod: "c-1", UID: "p1"}},
		"the pod is about to stop": {edit(marked, func(o *Observed) { o.Pods[1].Restarting = true }), Wait{Reason: v1beta2.ReasonMemberDown}},
		"the update is refused": {
			edit(closed(pulledImages(edit(marked, to("3.7.3")))), refuse(imageC1)), CorrectMark{Name: "c-1", UID: "v1", Version: "3.6.16"},
		},
		"the mark is refused":            {edit(marked, refuse(TargetOf(MarkVolume{Name: "c-1"}))), Wait{Reason: v1beta2.ReasonWriteRefused}},
		"the spec cannot be carried out": {edit(marked, func(o *Observed) { o.Cluster.Invalid = &failure.Problem{Reason: "R"} }), CorrectMark{Name: "c-1", UID: "v1", Version: "3.6.16"}},
	})
}
