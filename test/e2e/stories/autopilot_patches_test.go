package stories

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// patch is a minor release, the patch release of it that the operator is tested with, the one before, and a release that does not start on data of
// these: etcd refuses data of a later minor release, and 3.7 ends over the members' announcements in a log that 3.5 has written.
type patch struct{ minor, former, newest, stranger string }

// patches are those that the lab has, by the newest one.
var patches = map[edition]patch{
	"3.5.35": {"3.5", "3.5.34", "3.5.35", "3.7.3"}, "3.6.16": patch36, "3.7.3": {"3.7", "3.7.2", "3.7.3", "3.6.16"},
	"": patch36,
}

var patch36 = patch{"3.6", "3.6.15", "3.6.16", "3.5.35"}

// trialPace has a member try a release for a minute, instead of ten.
const trialPace = 10

// TestFollowPatches has a cluster with an older patch release follow its minor release: nothing happens before there is a verified backup, then
// one member tries the release, and a client notices no more than of any update.
func TestFollowPatches(t *testing.T) {
	quickened(t, trialPace)
	editions(t, followPatches)
}

func followPatches(t *testing.T, etcd edition) {
	p := etcd.patch(t)
	s := begin(t, etcd.named("follow-patches"), ofVersion(p.former))
	s.settled()
	s.client()
	s.puts("before", 10)
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Version = p.minor }))
	s.isHeld("patches", v1beta2.ReasonPatchHeld, "no EtcdBackup has a verified snapshot")
	s.allRun(p.former)
	s.backup("nightly", s.minio(), nil)
	s.backedUp("nightly")
	s.look("there is a backup")
	s.chosen(p.newest, limit)
	first := s.tries()
	s.isHeld("patches", v1beta2.ReasonPatchOnTrial, first+" is the first member to run etcd "+p.newest+": the others follow at")
	s.aloneRuns(p.newest, first)
	s.allRun(p.newest)
	s.settled()
	s.has("before", 10)
	s.report("a client saw")
	s.toldOnce(v1beta2.ReasonFollowingPatch)
	s.toldOnce(v1beta2.ReasonPatchFollowed)
	s.unsaid(v1beta2.ReasonPatchRefused)
}

// TestPatchFailsLater ends etcd in the member that tries a release, once it was healthy with that: the member goes back on its data, no other one
// gets it, and it is not tried in another cluster either, which is not told whose it was.
func TestPatchFailsLater(t *testing.T) {
	quickened(t, trialPace)
	editions(t, patchFailsLater)
}

func patchFailsLater(t *testing.T, etcd edition) {
	p := etcd.patch(t)
	s := saved(t, etcd.named("patch-fails-later"), p)
	before := s.startsOf()
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Version = p.minor }))
	first := s.tries()
	must(t, nodes.Faults().KillContainer(t.Context(), s.Namespace+"/"+first+"/etcd"))
	s.chosen(p.former, limit)
	s.isHeld("patches", v1beta2.ReasonPatchRefused, p.newest)
	s.allRun(p.former)
	s.settled()
	s.has("before", 10)
	s.report("a client saw")
	if got := s.startedSince(before); len(got) != 1 || got[0] != first {
		t.Errorf("%s has tried the release, and started again have %q", first, got)
	}
	s.saidOnce(v1beta2.ReasonPatchRefused, "taking etcd ") // that it is held from then on is said with the same reason
	s.unsaid(v1beta2.ReasonPatchFollowed)

	other := notTriedElsewhere(t, etcd, p)
	must(t, s.Upgrade(t.Context(), p.newest, limit)) // whoever names it means it, and the other one may try it then
	s.settled()
	other.look("the release is allowed")
	other.chosen(p.newest, limit)
	other.allRun(p.newest)
	other.settled()
}

// notTriedElsewhere begins a cluster that would follow to the same release, and wants no member of it to get that.
func notTriedElsewhere(t *testing.T, etcd edition, p patch) *story {
	t.Helper()
	s := begin(t, etcd.named("patch-held"), ofVersion(p.former))
	s.settled()
	s.backup("nightly", s.minio(), nil)
	s.backedUp("nightly")
	before := s.starts()
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Version = p.minor }))
	s.isHeld("patches", v1beta2.ReasonPatchHeld, "it was rolled back in another cluster of this operator: it is not tried here before")
	s.never("a release is tried that was rolled back in another cluster", quietFor, func(ctx context.Context) (bool, error) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return false, err
		}
		chosen := object.Status.Autopilot != nil && object.Status.Autopilot.Version != nil
		return chosen && object.Status.Autopilot.Version.Version == p.newest || s.starts() != before, nil
	})
	s.allRun(p.former)
	return s
}

// TestPatchRefused has the operator take another release for the newest patch release, which does not start on the data of the former one: after
// ten minutes, which are one here, the member that got it goes back, and no other one gets it. Once the image is the right one, naming the version
// has it tried again. No other story runs meanwhile.
func TestPatchRefused(t *testing.T) {
	quickened(t, trialPace)
	editions(t, patchRefused)
}

func patchRefused(t *testing.T, etcd edition) {
	p := etcd.patch(t)
	s := saved(t, etcd.named("patch-refused"), p)
	broken, before := s.digest(p.stranger), s.startsOf()
	t.Cleanup(func() { unpin(t, p.newest) })
	s.pins(p.newest, etcdRepository+":v"+p.newest+"@"+broken)
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Version = p.minor }))
	s.chosen(p.newest, limit)
	start := time.Now()
	s.chosen(p.former, 2*limit) // a minute after the first member has gone
	t.Logf("rolled back after %.0f s", time.Since(start).Seconds())
	s.isHeld("patches", v1beta2.ReasonPatchRefused, p.newest)
	s.allRun(p.former)
	s.settled()
	s.report("a client saw")
	if got := s.startedSince(before); len(got) != 1 {
		t.Errorf("one member was to get the release, and started again have %q", got)
	}
	if n := len(s.said(v1beta2.ReasonFollowingPatch)); n != 1 {
		t.Errorf("it was followed %d times", n)
	}
	unpin(t, p.newest)
	must(t, s.Upgrade(t.Context(), p.newest, limit))
	s.settled()
	s.has("before", 10)
	s.report("the version named, with the right image")
}

// TestPatchNotPulled has the newest patch release be at a digest that no registry has: no member is disturbed, and after half an hour, which are three
// minutes here, the release is given up, and it is said why. Naming the version then has it at once. No other story runs meanwhile.
func TestPatchNotPulled(t *testing.T) {
	quickened(t, trialPace)
	editions(t, patchNotPulled)
}

func patchNotPulled(t *testing.T, etcd edition) {
	p := etcd.patch(t)
	s := saved(t, etcd.named("patch-not-pulled"), p)
	before := s.starts()
	t.Cleanup(func() { unpin(t, p.newest) })
	s.pins(p.newest, etcdRepository+":v"+p.newest+"@sha256:"+strings.Repeat("0", 64))
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Version = p.minor }))
	s.chosen(p.newest, limit)
	s.chosen(p.former, 2*limit)
	s.isHeld("patches", v1beta2.ReasonPatchHeld, "no member could get it, because image")
	s.settled()
	if after := s.starts(); after != before {
		t.Errorf("the pods were %s, and are %s", before, after)
	}
	unpin(t, p.newest)
	must(t, s.Upgrade(t.Context(), p.newest, limit))
	s.settled()
	s.has("before", 10)
	s.report("a client saw")
}

// patch is the one of that version.
func (e edition) patch(t *testing.T) patch {
	t.Helper()
	p, known := patches[e]
	if !known {
		t.Fatalf("the lab has no patch release before etcd %s: give one of %v", e, slices.Sorted(maps.Keys(patches)))
	}
	return p
}

// saved begins a cluster with the former release that has a verified backup, a client at work, and ten keys that were there before.
func saved(t *testing.T, name string, p patch) *story {
	t.Helper()
	s := begin(t, name, ofVersion(p.former))
	s.settled()
	s.client()
	s.puts("before", 10)
	s.backup("nightly", s.minio(), nil)
	s.backedUp("nightly")
	return s
}

// chosen waits until Auto Pilot has chosen that version.
func (s *story) chosen(version string, within time.Duration) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "etcd "+version+" is chosen", within, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		a := object.Status.Autopilot
		return inJSON(a), a != nil && a.Version != nil && a.Version.Version == version
	}))
}

// tries waits until a member is healthy with a release that others do not have yet, and returns its name.
func (s *story) tries() (first string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "a member tries a release", limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		a := object.Status.Autopilot
		well := a != nil && a.Version != nil && a.Version.Trial != nil && a.Version.Trial.HealthySince != nil
		if well {
			first = a.Version.Trial.Member
		}
		return inJSON(a), well
	}))
	return first
}

// startsOf are the UID of each member's pod, and how often its container has started.
func (s *story) startsOf() map[string]string {
	s.t.Helper()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	starts := map[string]string{}
	for _, p := range pods {
		starts[p.Name] = fmt.Sprintf("%s, %d restarts", p.UID, p.Status.ContainerStatuses[0].RestartCount)
	}
	return starts
}

// startedSince are the members whose pods are others than then, or have started again: a release that a member got and lost again shows there.
func (s *story) startedSince(before map[string]string) (names []string) {
	s.t.Helper()
	for name, now := range s.startsOf() {
		if now != before[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// aloneRuns wants no member but that one to run that version.
func (s *story) aloneRuns(version, first string) {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	for _, m := range object.Status.MemberStatuses {
		if (m.Version == version) != (m.Name == first) {
			s.t.Errorf("%s runs etcd %s while %s tries %s", m.Name, m.Version, first, version)
		}
	}
}

// allRun waits until all members run that version.
func (s *story) allRun(version string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "all run etcd "+version, limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		all := len(object.Status.MemberStatuses) == int(object.Spec.Size)
		for _, m := range object.Status.MemberStatuses {
			all = all && m.Version == version
		}
		return inJSON(object.Status.MemberStatuses), all
	}))
}
