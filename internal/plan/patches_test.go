package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// The releases of the worlds below: members run former, and newest is offered.
const former, newest = "3.6.15", "3.6.16"

// patchable is a calm cluster whose spec names a minor release, and of which a backup was verified an hour ago.
func patchable(changes ...func(*Observed)) Observed {
	return edit(healthyCluster(3, true), append([]func(*Observed){func(o *Observed) {
		o.Cluster.Version, o.Cluster.NewestPatch, o.Cluster.Autopilot.Patches, o.MayDisturb = former, newest, ModeOn, true
		o.Cluster.Backup = RecoveryBackup{EtcdBackup: "nightly", Snapshot: "7.db", Taken: now.Add(-time.Hour)}
		for i := range o.Pods {
			o.Pods[i].Version, o.Volumes[i].Version, o.Etcd.Answers[i].Version = former, former, former
		}
	}}, changes...)...)
}

// chose has the newest release be chosen so long ago.
func chose(insteadOf string, ago time.Duration) func(*Observed) {
	return func(o *Observed) {
		o.Cluster.Version, o.Cluster.Tuned.Patch = newest, Patch{Version: newest, InsteadOf: insteadOf, Since: now.Add(-ago)}
	}
}

// updated has a member run that release as the first one, and be ready or not for so long.
func updated(i int, ready bool, since time.Duration) func(*Observed) {
	return func(o *Observed) {
		t := PatchTrial{Member: o.Pods[i].Name, PodUID: o.Pods[i].UID, Began: now.Add(-since - time.Minute), Failing: now.Add(-since), WasHealthy: true}
		if ready {
			t.Healthy, t.Failing = t.Failing, time.Time{}
		}
		o.Cluster.Tuned.Patch.Trial = t
		o.Pods[i].Version, o.Volumes[i].Version, o.Etcd.Answers[i].Version = newest, newest, newest
		if o.Pods[i].Ready, o.Pods[i].ReadyChanged = ready, now.Add(-since); !ready {
			o.Etcd.Answers = append(o.Etcd.Answers[:i:i], o.Etcd.Answers[i+1:]...)
		}
	}
}

// heldBy is what is held of patches, by reason and message.
func heldBy(known Assessment) string {
	for _, h := range known.Held {
		if h.Feature == FeaturePatches {
			return h.Reason + " " + h.Message
		}
	}
	return ""
}

// TestFollowPatch updates to a newer patch release while all is calm, and says why not where it does not.
func TestFollowPatch(t *testing.T) {
	follow := Patch{Version: newest, InsteadOf: former, Since: now}
	set := func(change func(*Cluster)) Observed { return patchable(func(o *Observed) { change(&o.Cluster) }) }
	refused := func(c *Cluster) {
		c.Tuned.Patch, c.RefusedPatches = Patch{Version: former}, []RefusedPatch{{Version: "3.6.14"}, {Version: newest}}
	}
	for title, c := range map[string]struct {
		o          Observed
		want       Patch
		held, says string
	}{
		"there is a newer one":         {patchable(), follow, "", ""},
		"there is none":                {set(func(c *Cluster) { c.NewestPatch = former }), Patch{}, "", ""},
		"there are only older ones":    {set(func(c *Cluster) { c.NewestPatch = "3.6.14" }), Patch{}, "", ""},
		"the spec names a version":     {set(func(c *Cluster) { c.NewestPatch = "" }), Patch{}, "", ""},
		"the next minor release":       {set(func(c *Cluster) { c.NewestPatch = "3.7.3" }), Patch{}, "", ""},
		"the spec is refused":          {set(func(c *Cluster) { c.Invalid = &failure.Problem{} }), Patch{}, "", ""},
		"the mode is Off":              {set(func(c *Cluster) { c.Autopilot.Patches = ModeOff }), Patch{}, "", ""},
		"the mode is Advise":           {set(func(c *Cluster) { c.Autopilot.Patches = ModeAdvise }), Patch{}, v1beta2.ReasonAutopilotAdvises, "from 3.6.15 to 3.6.16"},
		"the window is closed":         {set(func(c *Cluster) { c.Autopilot.Window.Set = true }), Patch{}, v1beta2.ReasonWaitingForWindow, "window"},
		"the window is open":           {set(func(c *Cluster) { c.Autopilot.Window = Window{Set: true, Open: true} }), follow, "", ""},
		"others come first":            {patchable(func(o *Observed) { o.MayDisturb = false }), Patch{}, v1beta2.ReasonWaitingForBrake, "fewer clusters"},
		"there is no backup":           {set(func(c *Cluster) { c.Backup = RecoveryBackup{} }), Patch{}, v1beta2.ReasonPatchHeld, "no EtcdBackup has a verified snapshot"},
		"the backup is of yesterday":   {set(func(c *Cluster) { c.Backup.Taken = now.Add(-25 * time.Hour) }), Patch{}, v1beta2.ReasonPatchHeld, "7.db of EtcdBackup nightly"},
		"the backup is almost too old": {set(func(c *Cluster) { c.Backup.Taken = now.Add(-24 * time.Hour) }), follow, "", ""},
		"none, and a closed window": {
			set(func(c *Cluster) { c.Backup, c.Autopilot.Window.Set = RecoveryBackup{}, true }), Patch{}, v1beta2.ReasonWaitingForWindow, "",
		},
		"an alarm, and a closed window": {
			alarmed(set(func(c *Cluster) { c.Autopilot.Window.Set = true }), Alarm{AlarmNoSpace, id(1)}), Patch{}, v1beta2.ReasonPatchHeld, "NOSPACE",
		},
		"no backup, an alarm, and a closed window": {
			alarmed(set(func(c *Cluster) { c.Backup, c.Autopilot.Window.Set = RecoveryBackup{}, true }), Alarm{AlarmNoSpace, id(1)}),
			Patch{},
			v1beta2.ReasonPatchHeld, "NOSPACE",
		},
		"rolled back in another cluster, and a closed window": {
			set(func(c *Cluster) { c.RefusedElsewhere, c.Autopilot.Window.Set = now.Add(-time.Hour), true }), Patch{}, v1beta2.ReasonPatchHeld, "in another cluster",
		},
		"given up, and a closed window": {
			set(func(c *Cluster) {
				c.Tuned.Patch = Patch{Version: former, Since: now.Add(-time.Hour), GivenUp: GivenUpPatch{newest, "no such tag"}}
				c.Autopilot.Window.Set = true
			}), Patch{}, v1beta2.ReasonPatchHeld, "because no such tag",
		},
		"data may differ, and a closed window": {
			set(func(c *Cluster) { c.Doubt.Split, c.Autopilot.Window.Set = true, true }), Patch{}, v1beta2.ReasonPatchHeld, "or may",
		},
		"none, and an open window": {
			set(func(c *Cluster) { c.Backup, c.Autopilot.Window = RecoveryBackup{}, Window{Set: true, Open: true} }), Patch{}, v1beta2.ReasonPatchHeld, "",
		},
		"a voter is down":         {silent(patchable(), 2), Patch{}, "", ""},
		"there is an alarm":       {alarmed(patchable(), Alarm{AlarmNoSpace, id(1)}), Patch{}, v1beta2.ReasonPatchHeld, "NOSPACE"},
		"the members are updated": {patchable(func(o *Observed) { o.Pods[1].Drift.Template = true }), Patch{}, "", ""},
		"it was rolled back":      {set(refused), Patch{}, v1beta2.ReasonPatchRefused, "etcd 3.6.16 was rolled back"},
		"rolled back, and Off":    {set(func(c *Cluster) { refused(c); c.Autopilot.Patches = ModeOff }), Patch{}, "", ""},
		"it was named since":      {set(func(c *Cluster) { refused(c); c.NewestPatch, c.Version = "", newest }), Patch{}, "", ""},
		"another cluster took it back": {
			set(func(c *Cluster) { c.RefusedElsewhere = now.Add(-23 * time.Hour) }), Patch{}, v1beta2.ReasonPatchHeld, "it is not tried here before 2026-",
		},
		"another one did, two days ago":        {set(func(c *Cluster) { c.RefusedElsewhere = now.Add(-48 * time.Hour) }), follow, "", ""},
		"another one will, in a hundred years": {set(func(c *Cluster) { c.RefusedElsewhere = now.Add(876_000 * time.Hour) }), follow, "", ""},
		"another one did, by its own clock": {
			set(func(c *Cluster) { c.RefusedElsewhere = now.Add(time.Minute) }), Patch{}, v1beta2.ReasonPatchHeld, "it is not tried here before 2026-",
		},
		"an earlier one was": {
			set(func(c *Cluster) { refused(c); c.NewestPatch = "3.6.17" }), Patch{Version: "3.6.17", InsteadOf: former, Since: now}, "", "",
		},
	} {
		t.Run(title, func(t *testing.T) {
			action, known := Decide(c.o)
			got, follows := action.(CommitTuning)
			if follows != (c.want != Patch{}) || follows && got.Patch != c.want {
				t.Errorf("Next() = %#v, want %+v", action, c.want)
			}
			if held := heldBy(known); !strings.HasPrefix(held, c.held) || !strings.Contains(held, c.says) || c.held == "" && held != "" {
				t.Errorf("held: %q, want %s: %s", held, c.held, c.says)
			}
		})
	}
}

// TestRetreat takes a patch release back with which no member becomes healthy, and none that works, or of which that is not known.
func TestRetreat(t *testing.T) {
	back := Patch{Version: former, Since: now}
	long, brief := 11*time.Minute, 9*time.Minute
	begun := chose(former, time.Hour)
	fails := updated(1, false, long)
	noQuorum := func(o *Observed) { o.Etcd = Etcd{Contact: ContactMinority, ClusterID: recordedID} }
	crashes := func(o *Observed) { o.Pods[1].StartProblem = "it crashes" }
	unversioned := func(o *Observed) {
		o.Pods[1].Version, o.Volumes[1].Version, o.Etcd.Answers[1].Version = former, former, former
	}
	lost := func(o *Observed) { o.Cluster.Tuned.Patch.Trial.Member = "c-9" }
	unpulled := func(problem string) func(*Observed) {
		return func(o *Observed) {
			o.PrepullPods = []PrepullPod{{Name: "pull", Node: "n1", Image: o.Cluster.Image(newest), Problem: problem}}
		}
	}
	for title, c := range map[string]struct {
		o    Observed
		want Patch
		says string
	}{
		"the first member fails":         {patchable(begun, fails), back, "c-1 is not healthy with etcd 3.6.16: members go back to 3.6.15"},
		"it crashes":                     {patchable(begun, fails, crashes), back, "(it crashes)"},
		"it has had too little time":     {patchable(begun, updated(1, false, brief)), Patch{}, ""},
		"another one has just come back": {patchable(begun, fails, func(o *Observed) { o.Pods[2].ReadyChanged = now.Add(-time.Minute) }), Patch{}, ""},
		"another one comes and goes":     {patchable(begun, updated(1, false, 31*time.Minute), func(o *Observed) { o.Pods[2].ReadyChanged = now }), back, ""},
		"it comes and goes itself":       {patchable(begun, fails, func(o *Observed) { o.Pods[1].ReadyChanged = now }), back, ""},
		"it has crashed once":            {patchable(begun, updated(1, true, time.Minute), func(o *Observed) { o.Pods[1].Restarts = 1 }), back, "etcd ended and was started again"},
		"it has crashed before":          {patchable(begun, updated(1, true, time.Minute), func(o *Observed) { o.Pods[1].Restarts, o.Cluster.Tuned.Patch.Trial.Restarts = 1, 1 }), Patch{}, ""},
		"its pod is another one":         {patchable(begun, updated(1, true, time.Minute), func(o *Observed) { o.Pods[1].Restarts, o.Cluster.Tuned.Patch.Trial.PodUID = 1, "x" }), Patch{}, ""},
		"its data differs":               {alarmed(patchable(begun, updated(1, true, time.Minute)), Alarm{AlarmCorrupt, id(1)}), back, "has found that data differs"},
		"another one's data differs":     {alarmed(patchable(begun, updated(1, true, time.Minute)), Alarm{AlarmCorrupt, id(2)}), back, "has found that data differs"},
		"it was lost, and had failed":    {patchable(begun, updated(1, false, time.Minute), lost, unversioned), back, "was lost"},
		"it was lost, and was well":      {patchable(begun, updated(1, true, time.Minute), lost, unversioned), Patch{}, ""}, // its node was drained, perhaps
		"it is healthy":                  {patchable(begun, updated(1, true, long)), Patch{}, ""},
		"it answers, and is not ready":   {patchable(begun, updated(1, true, long), func(o *Observed) { o.Pods[1].Ready = false }), Patch{}, ""},
		"another one works":              {patchable(begun, updated(2, true, long), fails), Patch{}, ""},
		"it is being deleted":            {patchable(begun, fails, func(o *Observed) { o.Pods[1].Deleting = true }), Patch{}, ""},
		"another one is down, too":       {silent(patchable(begun, fails, func(o *Observed) { o.Pods[2].Ready = false }), 2), Patch{}, ""},
		"there is no quorum":             {patchable(begun, fails, noQuorum), Patch{}, ""},
		"it crashes, and there is none":  {patchable(begun, fails, crashes, noQuorum), back, "(it crashes)"},
		"the image cannot be pulled":     {patchable(begun, unpulled("no such tag")), Patch{}, ""}, // it costs no member, and says nothing of the release
		"it is forbidden": {
			patchable(begun, func(o *Observed) {
				o.Refused = []Refusal{{Target: TargetOfUpdate(SetImage{Name: "c-2"}), Since: now.Add(-time.Hour), RetryAt: now.Add(time.Minute)}}
			}), Patch{}, "",
		},
		"it is being pulled": {patchable(begun, unpulled("")), Patch{}, ""},
		"the update is complete": {
			patchable(begun, updated(0, true, time.Hour), updated(2, true, time.Hour), fails), Patch{}, "",
		},
		"nobody is left that runs the former one": {
			patchable(begun, func(o *Observed) { // as after all have failed at once, much later
				for i := range o.Pods {
					o.Pods[i].Version, o.Pods[i].StartProblem, o.Pods[i].ReadyChanged = newest, "it crashes", now.Add(-long)
				}
			}, noQuorum), Patch{}, "",
		},
		"a user has asked for it": {patchable(func(o *Observed) { o.Cluster.Version = newest }, fails), Patch{}, ""},
		"they went back already":  {patchable(chose("", time.Hour), fails), Patch{}, ""},
		"the mode is Off":         {patchable(begun, fails, func(o *Observed) { o.Cluster.Autopilot.Patches = ModeOff }), Patch{}, ""},
		"the mode is Advise":      {patchable(begun, fails, func(o *Observed) { o.Cluster.Autopilot.Patches = ModeAdvise }), Patch{}, ""},
		"it is paused":            {patchable(begun, fails, func(o *Observed) { o.Cluster.Paused = true }), Patch{}, ""},
		"others come first":       {patchable(begun, fails, func(o *Observed) { o.MayDisturb = false }), back, ""},
		"the window is closed":    {patchable(begun, fails, func(o *Observed) { o.Cluster.Autopilot.Window.Set = true }), back, ""},
	} {
		t.Run(title, func(t *testing.T) {
			action, _ := Decide(c.o)
			got, retreats := action.(CommitTuning)
			if retreats != (c.want != Patch{}) || retreats && got.Patch != c.want {
				t.Errorf("Next() = %#v, want %+v", action, c.want)
			}
			if d := Describe(action); retreats && (d.Reason != v1beta2.ReasonPatchRefused || !strings.Contains(d.Message, c.says)) {
				t.Errorf("it says %+v, want %s", d, c.says)
			}
		})
	}
}

// TestRetreatAdvised says what would be done.
func TestRetreatAdvised(t *testing.T) {
	o := patchable(chose(former, time.Hour), updated(1, false, time.Hour), func(o *Observed) { o.Cluster.Autopilot.Patches = ModeAdvise })
	_, known := Decide(o)
	if held := heldBy(known); !strings.HasPrefix(held, v1beta2.ReasonAutopilotAdvises+" c-1 is not healthy") {
		t.Errorf("held: %q", held)
	}
}

// TestPatchIsRecorded keeps what was chosen until the spec asks for anything but its minor release.
func TestPatchIsRecorded(t *testing.T) {
	o := patchable()
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	chosen := Patch{Version: newest, InsteadOf: former, Since: now}
	if o.Cluster.Tuned.Patch != chosen {
		t.Fatalf("recorded: %+v", o.Cluster.Tuned)
	}
	o.Cluster.Version = newest
	for title, c := range map[string]struct {
		change func(*Cluster)
		want   Patch
	}{
		"the same":              {func(*Cluster) {}, chosen},
		"it is paused":          {func(c *Cluster) { c.Paused, c.Autopilot = true, Autopilot{} }, chosen},
		"Auto Pilot is off":     {func(c *Cluster) { c.Autopilot = Autopilot{} }, chosen.unproven()}, // no member has it
		"a newer one is tested": {func(c *Cluster) { c.NewestPatch = "3.6.17" }, chosen.unproven()},
		"a version is named":    {func(c *Cluster) { c.NewestPatch = "" }, Patch{}},
		"another minor release": {func(c *Cluster) { c.NewestPatch = "3.7.3" }, Patch{}},
		"the spec is wrong":     {func(c *Cluster) { c.NewestPatch, c.Invalid = "", &failure.Problem{} }, chosen},
	} {
		now := edit(o, func(o *Observed) { c.change(&o.Cluster) })
		if got := now.Cluster.Apply(nil, now).Tuned.Patch; got != c.want {
			t.Errorf("%s: %+v, want %+v", title, got, c.want)
		}
	}
	restore := CommitBootstrap{Bootstrap: Bootstrap{Restore: "restore", Incarnation: 2}}
	if kept := o.Cluster.Apply(restore, o); kept.Tuned.Patch != (Patch{Version: former, Since: chosen.Since}) || kept.Previous.Tuned != (Tuned{}) {
		t.Errorf("after a restore it is %+v, and %+v", kept.Tuned, kept.Previous.Tuned)
	}
}

// TestProvenPatch never takes a release back with which a member was healthy for ten minutes, whatever has become of that since.
func TestProvenPatch(t *testing.T) {
	o := patchable(chose(former, time.Hour), updated(1, true, 11*time.Minute))
	proven := o.Cluster.Apply(Next(o), o)
	if p := proven.Tuned.Patch; p.Version != newest || p.InsteadOf != "" {
		t.Fatalf("once a member is healthy with it, it is %+v", p)
	}
	for _, mode := range []Mode{ModeOff, ModeAdvise, ModeOn} {
		differs := alarmed(edit(o, func(o *Observed) { o.Cluster.Autopilot.Patches = mode }), Alarm{AlarmCorrupt, id(2)})
		if p := differs.Cluster.Apply(nil, differs).Tuned.Patch; p.InsteadOf == "" {
			t.Errorf("%s: it is accepted while etcd says that data differs", mode)
		}
	}
	o = patchable(chose(former, time.Hour), updated(1, false, 11*time.Minute), func(o *Observed) { o.Pods[1].StartProblem = "no space left on device" })
	if _, back := Next(o).(CommitTuning); !back {
		t.Errorf("a member that never was healthy does not go back: %#v", Next(o))
	}
	o.Cluster.Record = proven
	if act, back := Next(o).(CommitTuning); back {
		t.Errorf("a member that was healthy goes back: %+v", act)
	}
	restore := CommitBootstrap{Bootstrap: Bootstrap{Restore: "restore", Incarnation: 2}}
	if kept := proven.Apply(restore, o); kept.Tuned.Patch.Version != newest {
		t.Errorf("a restore starts with %+v", kept.Tuned.Patch)
	}
}

// TestTheWayBack has the member that failed get the former release at once, whatever the update waits for.
func TestTheWayBack(t *testing.T) {
	o := patchable(chose(former, time.Hour), updated(1, false, 11*time.Minute))
	o.Budget.MinAvailable = 3
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	o.Cluster.Version = o.Cluster.Tuned.Patch.Version
	o.PrepullPods = []PrepullPod{{Name: "pull", Node: o.Pods[1].Node, Image: o.Cluster.Image(former), Done: true}}
	if got, ok := Next(o).(SetImage); !ok || got.Name != "c-1" || got.Version != former {
		t.Errorf("Next() = %#v", Next(o))
	}
}
