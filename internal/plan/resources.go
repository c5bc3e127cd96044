package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Resources are amounts of CPU, in thousandths of a core, and of memory, in bytes; 0 is none.
type Resources struct {
	CPU    int64 `json:",omitempty"`
	Memory int64 `json:",omitempty"`
}

// Requirements are what etcd's container requests, and what it is limited to.
type Requirements struct {
	Requests, Limits Resources
}

// Resized is what Auto Pilot has the members request instead of what the spec says. It counts as long as the spec has what it was changed from.
// The limits follow in proportion.
type Resized struct {
	// Now is what they request, and Before what they requested before the last change.
	Now, Before Resources
	// InsteadOf is what the spec had.
	InsteadOf Requirements
	// Since is when that was decided.
	Since time.Time `json:",omitzero"`
	// GivenUp says why the members went back to Before; empty if they did not.
	GivenUp string `json:",omitempty"`
}

// Usage is what a member has used of CPU and memory, by its own metrics. What was not looked at for as long as it takes is 0: nothing is known.
type Usage struct {
	Pod, PodUID string
	// Used is what the member has used at least in ten of the twelve samples of the last hour, for CPU, and in each of the last three samples,
	// which are those of a quarter of an hour, for memory.
	Used Resources
	// Peak is the most that it has used in a sample of the last seven days.
	Peak Resources
	// Heap is the largest size, in bytes, that the heap of etcd has had since it started, between samples, too.
	Heap int64 `json:",omitempty"`
}

const (
	// busyShare is how many hundredths of what is requested may be used before more is due. What was used is easedShare of what is requested
	// then, so that it is a quarter more at least.
	busyShare, easedShare = 80, 64
	// idleShare is how many hundredths have to have been used at some time within seven days, or less is due: loweredShare of it. Whoever used
	// just less than idleShare then uses 53 hundredths: more is not due.
	idleShare, loweredShare = 40, 75
	// besideHeap is how much memory a member may take beside the file of the database and the largest heap: six segments of the log, whose pages are
	// cached.
	besideHeap = 6 * 64 << 20
	// lowerEvery is how long nothing is lowered after any change.
	lowerEvery = 24 * time.Hour
	// resizeLimit is how long a kubelet may take to resize a pod before it is given up. It tries again every three minutes where the node has no
	// room for now.
	resizeLimit = 10 * time.Minute
	// resizeAgain is how long nothing is changed after that.
	resizeAgain = 24 * time.Hour
	// cpuStep and memoryStep are what amounts are multiples of that Auto Pilot chooses.
	cpuStep, memoryStep = 10, 16 << 20
	pebibyte            = 1 << 50
)

// stillValid returns r, or the zero value if spec.pod.resources has changed since Auto Pilot chose it.
func (r Resized) stillValid(o Observed) Resized {
	if r.InsteadOf != o.Cluster.SpecResources {
		return Resized{}
	}
	return r
}

// Requests is what each member is to request, by the spec or by Auto Pilot.
func (c Cluster) Requests() Resources {
	if r := c.Tuned.Resized; r != (Resized{}) && r.InsteadOf == c.SpecResources {
		return r.Now
	}
	return c.SpecResources.Requests
}

// Exceeds reports whether it is more in any respect.
func (r Resources) Exceeds(other Resources) bool { return r.CPU > other.CPU || r.Memory > other.Memory }

// String is such as "1250m of CPU and 2048Mi of memory"; what is 0 is left out.
func (r Resources) String() string {
	switch {
	case r.Memory == 0:
		return fmt.Sprintf("%dm of CPU", r.CPU)
	case r.CPU == 0:
		return failure.Mebibytes(r.Memory) + " of memory"
	}
	return fmt.Sprintf("%dm of CPU and %s of memory", r.CPU, failure.Mebibytes(r.Memory))
}

// resizeMembers has all members request more, or less. Their pods are resized in place, and nobody restarts.
func resizeMembers(v *view) Action { return v.Resizing }

// resizing has all members request more CPU or memory once one of them uses most of it, and less once none has used much for a week. There is one
// amount for all: any of them may lead next. It is as calm as for everything of Auto Pilot, and the last change has reached all members.
func (v *view) resizing() Action {
	if v.Cluster.Autopilot.Resources == ModeOff || v.Cluster.SpecResources.Requests == (Resources{}) || len(v.Alarms) > 0 || v.RejectedSpec != nil ||
		v.Quarantined.ID != 0 || v.Defragmented.ID != 0 || !v.calm() || v.partlyResized() {
		return nil
	}
	have := v.Cluster.Requests()
	next, busy := v.raised(have)
	switch {
	case next != have:
		return v.resizeTo(next, busy, fmt.Sprintf("a member uses more than four fifths of what it requests (%s), and %s is due", have, next), true)
	case busy != "":
		return nil // it is said why
	case v.Now.Sub(v.Cluster.Tuned.Resized.Since) < lowerEvery:
		return nil
	}
	if next = v.lowered(have); next == have {
		return nil
	}
	return v.resizeTo(next, "", fmt.Sprintf("no member has used two fifths of the CPU that it requests (%s) for seven days, and %s is due", have, next), false)
}

// resizeTo is the act, if it may be done now. To have more cannot wait for a window: it disturbs nobody, and a member that lacks memory may end. To
// have less can.
func (v *view) resizeTo(next Resources, member, due string, raises bool) Action {
	c := v.Cluster
	if why := v.againstResizing(); why != "" {
		v.held(FeatureResources, v1beta2.ReasonResourcesHeld, due+", and held: "+why)
		return nil
	}
	act := CommitTuning{Tuned: c.Tuned, Member: member, FromResources: c.Requests()}
	act.Resized = Resized{Now: next, Before: c.Requests(), InsteadOf: c.SpecResources, Since: v.Now}
	if raises {
		return v.inTurn(act, FeatureResources, due, false)
	}
	return v.tune(act, FeatureResources, due, false)
}

// againstResizing is why no pod may be resized now, as the rest of a sentence; empty if they may be.
func (v *view) againstResizing() string {
	r := v.Cluster.Tuned.Resized
	switch {
	case slices.ContainsFunc(v.Pods, func(p Pod) bool { return p.ResizeRestarts }):
		return "the container etcd has a resizePolicy of RestartContainer, so that a resize would restart members: remove it from spec.pod.template, or " +
			"change spec.pod.resources by hand, for which the members are restarted one after the other"
	case r.GivenUp != "" && v.Now.Sub(r.Since) < resizeAgain:
		return "the last time that was given up, because " + r.GivenUp + "; it is tried again after 24 hours"
	}
	return ""
}

// partlyResized reports whether a member has not what it is to request.
func (v *view) partlyResized() bool {
	partly := false
	for _, m := range v.voters {
		p := v.pods[m.Name]
		if v.keepsRequests(p) {
			v.held(FeatureResources, v1beta2.ReasonResourcesHeld, "pod "+p.Name+" cannot be resized to what the others have, and keeps what it has; no member is "+
				"given anything else: that waits until it can be, or is created anew, or for another spec.pod.resources")
		}
		partly = partly || p.Untuned || p.ResizeRefused || p.Drift.Resources || p.Resizing != ""
	}
	return partly
}

// raised is what members are to request because one of them uses most of what it does, and that member; if it names one and nothing is
// different, more is due and may not be.
func (v *view) raised(have Resources) (next Resources, busy string) {
	next = have
	most, used := v.Cluster.mostResources(), Resources{}
	for _, m := range v.voters {
		u := v.Cluster.bounded(v.usage(m).Used)
		if exceeds(u.CPU, have.CPU, busyShare) || exceeds(u.Memory, have.Memory, busyShare) {
			busy = cmp.Or(busy, m.Name)
		}
		used.CPU, used.Memory = max(used.CPU, u.CPU), max(used.Memory, u.Memory)
	}
	next.CPU = v.raise(have.CPU, used.CPU, most.CPU, cpuStep, "CPU", "cpu")
	next.Memory = v.raise(have.Memory, used.Memory, most.Memory, memoryStep, "memory", "memory")
	return next, busy
}

// raise is as much that what was used is easedShare of it, within bounds.
func (v *view) raise(have, used, most, step int64, what, field string) int64 {
	if !exceeds(used, have, busyShare) {
		return have
	}
	if have >= most {
		v.held(FeatureResources, v1beta2.ReasonResourcesHeld, fmt.Sprintf("a member uses more than four fifths of the %s that it requests, and it is "+
			"given no more: %s", what, v.Cluster.whatBounds(field)))
		return have
	}
	return min(roundUp(used*100/easedShare, step), most)
}

// lowered is what members are to request because none has used much CPU for a week. Memory is never lowered: whoever lacks it ends, and nothing
// tells before.
func (v *view) lowered(have Resources) Resources {
	peak, known := int64(0), v.Cluster.bounded(have).CPU > 0
	for _, m := range v.voters {
		u := v.usage(m)
		known = known && u.Peak.CPU > 0
		peak = max(peak, u.Peak.CPU)
	}
	if known {
		have.CPU = lower(have.CPU, peak, v.Cluster.leastCPU(), cpuStep)
	}
	return have
}

// mostMemory is how many bytes of memory a voter may use: none if its pod is on no node. It is not known if its server does not tell of its database
// and its heap, or has not for a quarter of an hour. No number of a member is so large that the sum is none.
func (v *view) mostMemory(m Member) (bytes int64, known bool) {
	if v.pods[m.Name].Node == "" {
		return 0, true
	}
	a, answers := v.answer(m)
	u := v.usage(m)
	if !answers || u.Heap == 0 || u.Used.Memory == 0 {
		return 0, false
	}
	return max(u.Used.Memory, u.Peak.Memory, min(a.DBSize, pebibyte)+min(u.Heap, pebibyte)+besideHeap), true
}

// lower is loweredShare of what there is, within bounds, if so little was used at most.
func lower(have, peak, least, step int64) int64 {
	if peak*100 >= have*idleShare {
		return have
	}
	return min(have, max(roundUp(have*loweredShare/100, step), least))
}

// exceeds reports whether it is more than so many hundredths.
func exceeds(used, have, share int64) bool { return have > 0 && used*100 > have*share }

// bounded has 0 for what has neither a minimum nor a maximum: that is never changed, and how much of it is used does not matter.
func (c Cluster) bounded(r Resources) Resources {
	least, most := c.Autopilot.MinResources, c.Autopilot.MaxResources
	if least.CPU == 0 && most.CPU == 0 {
		r.CPU = 0
	}
	if least.Memory == 0 && most.Memory == 0 {
		r.Memory = 0
	}
	return r
}

// whatBounds is why members are given no more of what that field of a bound is about, and what to do, as the rest of a sentence.
func (c Cluster) whatBounds(field string) string {
	most := c.Autopilot.MaxResources
	if field == "cpu" && most.CPU == 0 || field == "memory" && most.Memory == 0 {
		return "that is what spec.pod.resources says, and there is no higher bound; give it one in spec.autopilot.resources, request more, or lower the load"
	}
	return "that is at spec.autopilot.resources.max." + field + "; raise it, or lower the load"
}

// mostResources and leastCPU are what members may be given: what the spec says where a bound is absent.
func (c Cluster) mostResources() Resources {
	spec, most := c.SpecResources.Requests, c.Autopilot.MaxResources
	return Resources{max(spec.CPU, most.CPU), max(spec.Memory, most.Memory)}
}

func (c Cluster) leastCPU() int64 {
	return cmp.Or(c.Autopilot.MinResources.CPU, c.SpecResources.Requests.CPU)
}

// usage is what a voter has used, the zero Usage if that is not known.
func (v *view) usage(m Member) Usage {
	for _, u := range v.Etcd.Usages {
		if u.Pod == m.Name && u.PodUID == v.pods[m.Name].UID {
			return u
		}
	}
	return Usage{}
}

func (a CommitTuning) describeResources() Description {
	what := fmt.Sprintf("%s instead of %s", a.Resized.Now, a.FromResources)
	switch {
	case a.Because != "" && a.Resized.Now == a.FromResources:
		what = fmt.Sprintf("the members go on requesting %s, although %s", a.Resized.Now, a.Because)
	case a.Because != "":
		what = fmt.Sprintf("the members request %s, because %s", what, a.Because)
	case a.Member != "":
		what = fmt.Sprintf("having the members request %s, because %s uses more than four fifths of it: their pods are resized in place", what, a.Member)
	default:
		what = fmt.Sprintf("having the members request %s, because none has used two fifths of that CPU for seven days: their pods are resized in place", what)
	}
	return Description{"CommitTuning", v1beta2.ReasonResizingMembers, what}
}
