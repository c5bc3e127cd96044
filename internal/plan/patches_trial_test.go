package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// passed records what a pass has observed that did nothing, and moves the clock on.
func passed(o Observed, by time.Duration) Observed {
	o.Cluster.Record = o.Cluster.Apply(nil, o)
	o.Cluster.Version, o.Now = o.Cluster.Tuned.Patch.Version, o.Now.Add(by)
	return o
}

// hasNewest has the image of the newest release be on all nodes.
func hasNewest(o *Observed) {
	for _, node := range []string{"n0", "n1", "n2"} {
		o.PrepullPods = append(o.PrepullPods, PrepullPod{Name: node + newest, Node: node, Image: o.Cluster.Image(newest), Done: true})
	}
}

// ready has evictions be blocked, and a member be out of the client Service: all is done that comes before it is restarted.
func ready(i int) func(*Observed) {
	return func(o *Observed) { o.Budget.MinAvailable, o.Pods[i].InService = len(o.Etcd.Members), false }
}

// TestPatchTrial has the second member follow no sooner than the first one was healthy for ten minutes, and says until when that is waited for.
func TestPatchTrial(t *testing.T) {
	first := patchable(chose(former, time.Minute), hasNewest, ready(2), func(o *Observed) {
		o.Pods[1].Version, o.Volumes[1].Version, o.Etcd.Answers[1].Version = newest, newest, newest
	})
	second := func(o Observed) bool {
		switch a := Next(o).(type) {
		case SetImage, RemoveFromService, MoveLeader:
			return true
		case Wait:
			t.Errorf("nothing goes on during the trial: %s", a.Message)
		default:
		}
		return false
	}
	if second(first) {
		t.Fatalf("as soon as it is healthy: %#v", Next(first))
	}
	o := passed(first, 9*time.Minute)
	_, known := Decide(o)
	until := "c-1 is the first member to run etcd 3.6.16: the others follow at " + now.Add(10*time.Minute).Format(time.RFC3339)
	if second(o) || !strings.HasPrefix(heldBy(known), v1beta2.ReasonPatchOnTrial+" "+until) || !known.Disturbing() {
		t.Errorf("after nine minutes: %#v; held: %s", Next(o), heldBy(known))
	}
	o = passed(o, time.Minute)
	if !second(o) || heldBy(Assess(o)) != "" {
		t.Errorf("after ten minutes: %#v", Next(o))
	}
	if p := passed(o, 0).Cluster.Tuned.Patch; p != (Patch{Version: newest, Since: first.Cluster.Tuned.Patch.Since}) {
		t.Errorf("after ten minutes it is %+v", p)
	}
	named := edit(first, func(o *Observed) { o.Cluster.NewestPatch = "" })
	if !second(named) {
		t.Errorf("a user has named the release: %#v", Next(named))
	}
	quick := edit(passed(first, 2*time.Minute), func(o *Observed) { o.Cluster.Autopilot.Pace = 5 })
	if !second(quick) {
		t.Errorf("a test that is five times as quick: %#v", Next(quick))
	}
}

// TestUntried looks again at what a release may be chosen for, right before the first member gets it.
func TestUntried(t *testing.T) {
	untried := patchable(chose(former, 48*time.Hour), hasNewest, ready(1))
	if act, ok := Next(untried).(SetImage); !ok || act.Version != newest {
		t.Fatalf("it is not given to any member: %#v", Next(untried))
	}
	kept, given := untried.Cluster.Tuned.Patch, Patch{Version: former, Since: untried.Cluster.Tuned.Patch.Since}
	for title, c := range map[string]struct {
		change func(*Observed)
		want   Patch
		says   string
	}{
		"the backup is too old by now": {func(o *Observed) { o.Cluster.Backup.Taken = now.Add(-25 * time.Hour) }, given, "older than 24 hours"},
		"there is none any more":       {func(o *Observed) { o.Cluster.Backup = RecoveryBackup{} }, given, "no EtcdBackup"},
		"the window has closed":        {func(o *Observed) { o.Cluster.Autopilot.Window.Set = true }, given, "window"},
		"there is an alarm":            {func(o *Observed) { *o = alarmed(*o, Alarm{AlarmNoSpace, id(1)}) }, given, "NOSPACE"},
		"there is a newer one":         {func(o *Observed) { o.Cluster.NewestPatch = "3.6.17" }, given, "another one"},
		"another cluster took it back": {func(o *Observed) { o.Cluster.RefusedElsewhere = now.Add(-time.Hour) }, given, "in another cluster"},
		"the mode is Advise":           {func(o *Observed) { o.Cluster.Autopilot.Patches = ModeAdvise }, given, "does not allow"},
		"the template differs":         {func(o *Observed) { o.Pods[0].Drift.Template = true }, kept, "another reason"},
		"a voter is down":              {func(o *Observed) { *o = silent(*o, 2) }, kept, "not all members are healthy"},
		"it is paused":                 {func(o *Observed) { o.Cluster.Paused, o.Cluster.Autopilot = true, Autopilot{} }, kept, ""},
	} {
		o := edit(untried, c.change)
		action, known := Decide(o)
		if set, ok := action.(SetImage); ok && set.Version == newest {
			t.Errorf("%s: %#v", title, action)
		}
		if recreate, ok := action.(Recreate); ok && recreate.Version != former {
			t.Errorf("%s: %#v", title, action)
		}
		if held := heldBy(known); !strings.Contains(held, c.says) || c.says != "" && !strings.HasPrefix(held, v1beta2.ReasonPatchHeld) {
			t.Errorf("%s: held: %q", title, held)
		}
		if got := o.Cluster.Apply(action, o).Tuned.Patch; got != c.want {
			t.Errorf("%s: %+v, want %+v", title, got, c.want)
		}
	}
}

// TestShrinkingOnTrial removes the member that tries a release, rather than one that does not.
func TestShrinkingOnTrial(t *testing.T) {
	o := patchable(chose(former, time.Hour), updated(1, true, time.Minute), func(o *Observed) { o.Cluster.Size = 1 })
	if victim := Assess(o).NextToRemove.Name; victim != "c-1" {
		t.Errorf("%s is to be removed", victim)
	}
	for why, want := range map[string]Patch{
		v1beta2.ReasonScaling:        {Version: former, Since: o.Cluster.Tuned.Patch.Since}, // it may be tried again
		v1beta2.ReasonDivergedMember: o.Cluster.Tuned.Patch,
	} {
		if got := o.Cluster.Apply(RemoveMember{ID: id(1), Name: "c-1", Why: why}, o).Tuned.Patch; got != want {
			t.Errorf("once it is removed for %s: %+v", why, got)
		}
	}
}

// TestImageOfWayBack has members go back to the very image that a majority of them had, whatever this operator knows of its version, and to none
// from elsewhere.
func TestImageOfWayBack(t *testing.T) {
	const image, other, elsewhere = version.DefaultRepository + ":v3.6.15@sha256:0123", version.DefaultRepository + ":v3.6.15@sha256:4567", "mirror.example/etcd:v3.6.15@sha256:89ab"
	const newestThere = "mirror.example/etcd:v3.6.16@sha256:cdef"
	for title, c := range map[string]struct {
		images [3]string
		pinned version.Pinned
		want   string
	}{
		"all have it":                        {[3]string{image, image, image}, nil, image},
		"two do":                             {[3]string{image, other, image}, nil, image},
		"two do, and one is not known":       {[3]string{image, "", image}, nil, image},
		"one does":                           {[3]string{"", image, ""}, nil, ""},
		"all differ":                         {[3]string{image, other, ""}, nil, ""},
		"none is known":                      {},
		"one is from elsewhere":              {[3]string{"", elsewhere, ""}, nil, ""},
		"all are from elsewhere":             {[3]string{elsewhere, elsewhere, elsewhere}, nil, ""},
		"the newest one is from there, also": {[3]string{elsewhere, elsewhere, elsewhere}, version.Pinned{newestThere}, elsewhere},
	} {
		o := patchable(func(o *Observed) {
			o.Cluster.Pinned = c.pinned
			for i := range o.Pods {
				o.Pods[i].Image = c.images[i]
			}
		})
		if act, ok := Next(o).(CommitTuning); !ok || act.Patch.Image != c.want {
			t.Errorf("%s: Next() = %#v", title, Next(o))
		}
	}
	o := patchable(chose(former, time.Hour), updated(1, false, 11*time.Minute), func(o *Observed) { o.Cluster.Tuned.Patch.Image = image })
	if act, ok := Next(o).(CommitTuning); !ok || act.Patch.Image != image || act.Patch.Version != former {
		t.Errorf("Next() = %#v", Next(o))
	}
}

// TestRefusedPatches remembers all releases that were rolled back, the latest ones if they are many, and a user who names one means it.
func TestRefusedPatches(t *testing.T) {
	o := patchable()
	for i := range maxRefusedPatches + 4 {
		back := CommitTuning{Refused: RefusedPatch{Version: fmt.Sprintf("3.6.%d", 100+i), Since: now}}
		o.Cluster.Record = o.Cluster.Apply(back, o)
	}
	if n := len(o.Cluster.RefusedPatches); n != maxRefusedPatches || !o.Cluster.Refuses("3.6.104") || !o.Cluster.Refuses("3.6.119") || o.Cluster.Refuses("3.6.103") {
		t.Errorf("%d are remembered: %+v", n, o.Cluster.RefusedPatches)
	}
	restore := CommitBootstrap{Bootstrap: Bootstrap{Restore: "restore", Incarnation: 2}}
	if kept := o.Cluster.Apply(restore, o); !kept.Refuses("3.6.104") || !kept.goBack().Refuses("3.6.104") {
		t.Error("a restore forgets them")
	}
	if again := o.Cluster.Apply(nil, edit(o, func(o *Observed) { o.Cluster.NewestPatch = "3.7.3" })); !again.Refuses("3.6.104") {
		t.Error("another minor release has them be forgotten")
	}
	named := edit(o, func(o *Observed) { o.Cluster.Version, o.Cluster.NewestPatch = "3.6.104", "" })
	if kept := named.Cluster.Apply(nil, named); kept.Refuses("3.6.104") || !kept.Refuses("3.6.105") {
		t.Errorf("once one is named: %+v", kept.RefusedPatches)
	}
}

// TestTrialTold tells a trial that goes on from one that does not.
func TestTrialTold(t *testing.T) {
	for title, c := range map[string]struct {
		ready bool
		since time.Duration
		held  string
	}{
		"it is healthy":          {true, 9 * time.Minute, v1beta2.ReasonPatchOnTrial + " c-1 is the first member to run etcd 3.6.16: the others follow at"},
		"it starts":              {false, time.Minute, v1beta2.ReasonPatchOnTrial + " c-1 is the first member to run etcd 3.6.16, and is not healthy"},
		"it has failed for long": {false, time.Hour, v1beta2.ReasonPatchHeld + " c-1 is the first member to run etcd 3.6.16, and is not healthy"},
	} {
		o := patchable(chose(former, time.Hour), updated(1, c.ready, c.since), func(o *Observed) { o.Cluster.Autopilot.Patches = ModeOff })
		if held := heldBy(Assess(o)); !strings.HasPrefix(held, c.held) {
			t.Errorf("%s: held: %q", title, held)
		}
	}
}
