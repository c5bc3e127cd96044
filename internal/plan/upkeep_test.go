package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	mebi      = 1 << 20
	testQuota = 1000 * mebi
)

// database has a member's database be of that size, with so much in use.
func sized(o *Observed, i int, size, inUse int64) {
	o.Etcd.Answers[i].DBSize, o.Etcd.Answers[i].DBSizeInUse, o.Etcd.Answers[i].Quota = size*mebi, inUse*mebi, testQuota
}

// surveyed is a cluster whose databases are looked at, with Auto Pilot on.
func surveyed(size int, edits ...func(*Observed)) Observed {
	o := healthyCluster(size, true)
	o.Cluster.Autopilot = Autopilot{NoSpace: ModeOn, Compact: true, Defragment: ModeOn}
	o.Etcd.PastRevision, o.MayDisturb = 90, true
	for i := range size {
		sized(&o, i, 100, 95)
		o.Etcd.Databases = append(o.Etcd.Databases, Database{Pod: name(i), PodUID: o.Pods[i].UID, Known: true, Compacted: 90, Rests: true})
	}
	return edit(o, edits...)
}

// full is one in which a database has reached its quota: that of member 1.
func full(edits ...func(*Observed)) Observed {
	o := alarmed(surveyed(3), Alarm{AlarmNoSpace, id(1)})
	for i := range 3 {
		sized(&o, i, 1000, 995)
	}
	return edit(o, edits...)
}

func held(o Observed) string {
	for _, h := range Assess(o).Held {
		return h.Feature + " " + h.Reason + ": " + h.Message
	}
	return ""
}

// blocked has evictions blocked and member i out of the Service.
func readied(i int) func(*Observed) {
	return func(o *Observed) {
		o.Budget.MinAvailable = 3
		o.Pods[i].InService, o.Pods[i].LeftService = false, now.Add(-time.Minute)
	}
}

func TestMakeRoom(t *testing.T) {
	holes := func(o *Observed) {
		for i := range o.Etcd.Answers {
			sized(o, i, 1000, 300)
		}
	}
	roomy := func(o *Observed) {
		for i := range o.Etcd.Answers {
			sized(o, i, 890, 880)
		}
	}
	only := func(i int) func(*Observed) { // the others' files are small
		return func(o *Observed) {
			for j := range o.Etcd.Answers {
				if sized(o, j, 300, 290); j == i {
					sized(o, j, 1000, 300)
				}
			}
		}
	}
	db := func(i int, change func(*Database)) func(*Observed) {
		return func(o *Observed) { change(&o.Etcd.Databases[i]) }
	}
	for title, c := range map[string]struct {
		o    Observed
		want string // how the action is described, empty if the rule passes
		held string
	}{
		"evictions are blocked first":        {full(holes), "setting minAvailable", ""},
		"clients leave first":                {full(holes, func(o *Observed) { o.Budget.MinAvailable = 3 }), "removing c-1 from", ""},
		"a follower that is full":            {full(holes, readied(1)), "defragmenting c-1, of whose database 700Mi or more are free: it is expected to pause for 6s", ""},
		"a rate that was measured":           {full(holes, readied(1), func(o *Observed) { o.Etcd.DefragmentRate = 100 * mebi }), "defragmenting c-1, of whose database 700Mi or more are free: it is expected to pause for 3s", ""},
		"one that is full without an alarm":  {full(only(2), readied(2)), "defragmenting c-2", ""},
		"the leader hands over first":        {full(only(0)), "moving leadership from c-0", ""},
		"room everywhere":                    {full(roomy), "disarming the alarm NOSPACE of c-1", ""},
		"an alarm of a member that is gone":  {alarmed(full(roomy), Alarm{AlarmNoSpace, 0xdead}), "disarming the alarm NOSPACE of 000000000000dead, which is no longer a member", ""},
		"room but for one at nine tenths":    {full(roomy, func(o *Observed) { sized(o, 2, 901, 895) }), "", "noSpace MakingRoom"},
		"history that is old enough":         {full(func(o *Observed) { o.Etcd.PastRevision = 95 }), "compacting the history of keys up to revision 95", ""},
		"history that is younger":            {full(), "", "noSpace MakingRoom: etcd takes no writes (alarm NOSPACE), and nothing but the history of the last five minutes"},
		"the past is not known yet":          {full(func(o *Observed) { o.Etcd.PastRevision = 0 }), "", "noSpace MakingRoom"},
		"live keys":                          {full(func(o *Observed) { o.Etcd.PastRevision = 100 }, func(o *Observed) { o.Etcd.Databases[1].Compacted = 100 }), "", "noSpace SpaceExhausted: etcd takes no writes (alarm NOSPACE), and what is in use fills the quota: delete keys"},
		"history that is data":               {full(func(o *Observed) { o.Etcd.PastRevision, o.Cluster.Autopilot.Compact = 95, false }), "", "noSpace SpaceExhausted: etcd takes no writes (alarm NOSPACE), and what is in use fills the quota: deleting keys makes no room before their history is compacted"},
		"history that is data, compacted":    {full(readied(1), func(o *Observed) { o.Cluster.Autopilot.Compact, o.Etcd.Databases[1].Removed = false, 9 }), "defragmenting c-1", ""},
		"pages that are not counted yet":     {full(readied(1), db(1, func(d *Database) { d.Removed = 9 })), "defragmenting c-1, of whose database 5Mi or more are free", ""},
		"the same, once more":                {full(db(1, last(5*mebi, time.Second, false)), db(1, func(d *Database) { d.Removed = 9 })), "", "noSpace MakingRoom"},
		"pages are being freed":              {full(holes, db(1, func(d *Database) { d.Rests = false })), "", ""},
		"one is being defragmented":          {full(holes, readied(1), db(2, func(d *Database) { d.Defragmenting = now })), "", ""},
		"one is defragmented for long":       {full(holes, db(2, func(d *Database) { d.Defragmenting = now.Add(-time.Hour) })), "", "until all voters are healthy"},
		"a snapshot of it is read":           {full(holes, db(1, func(d *Database) { d.Copied = true })), "", "a snapshot is read from it"},
		"a snapshot of another one is read":  {full(holes, readied(1), db(2, func(d *Database) { d.Copied = true })), "defragmenting c-1", ""},
		"a backup":                           {full(holes, func(o *Observed) { o.Cluster.BackingUp = "EtcdBackup nightly" }), "", "EtcdBackup nightly is taking a snapshot"},
		"metrics of another one are unknown": {full(holes, db(2, func(d *Database) { d.Known = false })), "", "the metrics of c-2 cannot be read"},
		"another voter is down":              {full(holes, func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] }), "", "until all voters are healthy"},
		"another voter is far behind":        {full(holes, func(o *Observed) { setCommitted(o, 5000, 5000, 100) }), "", "c-2 is not healthy, or far behind"},
		"data that differs":                  {alarmed(full(holes), Alarm{AlarmNoSpace, id(1)}, Alarm{AlarmCorrupt, id(2)}), "", "alarm CORRUPT"},
		"no room for a copy":                 {full(holes, func(o *Observed) { o.Volumes[1].Requested = 1850 * mebi }), "", "larger volumes"},
		"room for a copy":                    {full(holes, readied(1), func(o *Observed) { o.Volumes[1].Requested = 1860 * mebi }), "defragmenting c-1", ""},
		"the last one has freed nothing":     {full(holes, db(1, last(700*mebi, time.Hour, false)), db(0, last(700*mebi, 0, false)), db(2, last(700*mebi, 0, false))), "", "noSpace MakingRoom"},
		"the last one has failed just now":   {full(only(1), db(1, last(700*mebi, time.Minute, true))), "", "noSpace DefragmentationHeld: etcd takes no writes (alarm NOSPACE), and defragmenting c-1 has failed"},
		"the last one has failed before":     {full(only(1), readied(1), db(1, last(700*mebi, time.Hour, true))), "defragmenting c-1", ""},
		"advice":                             {full(holes, func(o *Observed) { o.Cluster.Autopilot.NoSpace = ModeAdvise }), "", "noSpace AutopilotAdvises: Auto Pilot would act, were its mode On: defragment c-1"},
		"off":                                {full(holes, func(o *Observed) { o.Cluster.Autopilot.NoSpace = ModeOff }), "", ""},
		"etcd 3.5, by the spec's quota": {full(holes, readied(1), func(o *Observed) {
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Quota = 0
			}
			o.Cluster.Quota = testQuota
		}), "defragmenting c-1", ""},
		"etcd 3.5, during an update": {full(holes, func(o *Observed) {
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Quota, o.Pods[i].Drift.Template = 0, true
			}
			o.Cluster.Quota = 2 * testQuota
		}), "", "their quotas are known"},
	} {
		t.Run(title, func(t *testing.T) {
			v := newView(c.o)
			got := ""
			if a := makeRoom(v); a != nil {
				a, _ = v.guarded(runningGuards, a)
				got = Describe(a).Message
			}
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("it does %q, not %q", got, c.want)
			}
			if said := held(c.o); !strings.Contains(said, c.held) || c.held == "" && said != "" {
				t.Errorf("it holds %q, not %q", said, c.held)
			}
		})
	}
}

func TestDefragment(t *testing.T) {
	holey := func(members ...int) func(*Observed) {
		return func(o *Observed) {
			for _, i := range members {
				sized(o, i, 300, 90)
			}
		}
	}
	window := func(w Window) func(*Observed) { return func(o *Observed) { o.Cluster.Autopilot.Window = w } }
	large := func(o *Observed) { sized(o, 1, 900, 400) }
	open := Window{Set: true, Open: true, Ends: now.Add(time.Minute)}
	for title, c := range map[string]struct {
		o    Observed
		want string
		held string
	}{
		"one":                          {surveyed(3, holey(1), readied(1)), "defragmenting c-1, of whose database 210Mi or more are free: it is expected to pause for 1.8s", ""},
		"the leader last":              {surveyed(3, holey(0, 2), readied(2)), "defragmenting c-2", ""},
		"the leader hands over":        {surveyed(3, holey(0)), "moving leadership from c-0", ""},
		"less than half is free":       {surveyed(3, func(o *Observed) { sized(o, 1, 300, 160) }), "", ""},
		"little is free":               {surveyed(3, func(o *Observed) { sized(o, 1, 120, 30) }), "", ""},
		"close to the quota":           {surveyed(3, func(o *Observed) { sized(o, 1, 810, 700) }, window(open), readied(1)), "defragmenting c-1", ""},
		"a long pause":                 {surveyed(3, large), "", "defragment WaitingForWindow: defragmenting would give free pages back to the disk (c-1), and would have a member pause for more than 2s"},
		"a long pause, measured quick": {surveyed(3, large, readied(1), func(o *Observed) { o.Etcd.DefragmentRate = 400 * mebi }), "defragmenting c-1", ""},
		"the window is open":           {surveyed(3, large, readied(1), window(open)), "defragmenting c-1", ""},
		"the window closes too soon":   {surveyed(3, large, window(Window{Set: true, Open: true, Ends: now.Add(7 * time.Second)})), "", "defragment WaitingForWindow"},
		"others write meanwhile":       {surveyed(3, holey(1), readied(1), func(o *Observed) { o.Etcd.Databases[1].Rests = false }), "defragmenting c-1", ""},
		"not its turn":                 {surveyed(3, holey(1), func(o *Observed) { o.MayDisturb = false }), "", "defragment WaitingForBrake"},
		"the window is closed":         {surveyed(3, holey(1), window(Window{Set: true})), "", "defragment WaitingForWindow"},
		"a backup":                     {surveyed(3, holey(1), func(o *Observed) { o.Cluster.BackingUp = "EtcdBackup nightly" }), "", "defragment DefragmentationHeld: defragmenting c-1 is due, and held: EtcdBackup nightly"},
		"a voter is down":              {surveyed(3, holey(1), func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] }), "", ""},
		"an update":                    {surveyed(3, holey(1), func(o *Observed) { o.Pods[2].Drift.Template = true }), "", ""},
		"an alarm":                     {alarmed(surveyed(3, holey(1)), Alarm{AlarmCorrupt, id(1)}), "", ""},
		"it was done this day":         {surveyed(3, holey(1), func(o *Observed) { last(0, time.Hour, false)(&o.Etcd.Databases[1]) }), "", ""},
		"it was done the day before":   {surveyed(3, holey(1), readied(1), func(o *Observed) { last(0, 25*time.Hour, false)(&o.Etcd.Databases[1]) }), "defragmenting c-1", ""},
		"it has failed this day":       {surveyed(3, holey(1), func(o *Observed) { last(210*mebi, time.Hour, true)(&o.Etcd.Databases[1]) }), "", "defragment DefragmentationHeld: defragmenting c-1 has failed"},
		"it has failed the day before": {surveyed(3, holey(1), readied(1), func(o *Observed) { last(210*mebi, 25*time.Hour, true)(&o.Etcd.Databases[1]) }), "defragmenting c-1", ""},
		"it has freed nothing":         {surveyed(3, holey(1), func(o *Observed) { last(210*mebi, 25*time.Hour, false)(&o.Etcd.Databases[1]) }), "", ""},
		"a cluster of two":             {surveyed(2, holey(1)), "", ""},
		"advice":                       {surveyed(3, holey(1), func(o *Observed) { o.Cluster.Autopilot.Defragment = ModeAdvise }), "", "defragment AutopilotAdvises"},
		"off":                          {surveyed(3, holey(1), func(o *Observed) { o.Cluster.Autopilot.Defragment = ModeOff }), "", ""},
		"paused":                       {surveyed(3, holey(1), func(o *Observed) { o.Cluster.Paused = true }), "", ""},
	} {
		t.Run(title, func(t *testing.T) {
			v, got := newView(c.o), ""
			if a := defragment(v); a != nil {
				got = Describe(a).Message
			}
			if strings.HasPrefix(c.want, "defragmenting") { // it is the action after all guards, too
				got = Describe(Next(c.o)).Message
			}
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("it does %q, not %q", got, c.want)
			}
			if said := held(c.o); !strings.Contains(said, c.held) || c.held == "" && said != "" {
				t.Errorf("it holds %q, not %q", said, c.held)
			}
		})
	}
}

// last is how the last defragmentation has ended.
func last(free int64, ago time.Duration, failed bool) func(*Database) {
	return func(d *Database) { d.Last = &Defragmentation{At: now.Add(-ago), Free: free, Failed: failed} }
}

func setCommitted(o *Observed, applied ...uint64) {
	for i, n := range applied {
		o.Etcd.Answers[i].Committed, o.Etcd.Answers[i].Applied = n, n
	}
}

// TestDefragmentingIsADisruption holds the guards against a rule that does not ask whether it is safe.
func TestDefragmentingIsADisruption(t *testing.T) {
	down := surveyed(3, func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] })
	act := Defragment{ID: id(1), Name: name(1)}
	if a, _ := newView(down).guarded(runningGuards, act); !waitsFor(a, v1beta2.ReasonQuorumAtRisk) {
		t.Errorf("with a voter down: %#v", a)
	}
	if a, _ := newView(surveyed(3)).guarded(runningGuards, act); a != (SetBudget{MinAvailable: 3}) {
		t.Errorf("with evictions allowed: %#v", a)
	}
	if a, _ := newView(surveyed(1)).guarded(runningGuards, Defragment{ID: id(0), Name: name(0)}); !waitsFor(a, v1beta2.ReasonQuorumAtRisk) {
		t.Errorf("of the only one: %#v", a)
	}
}

func waitsFor(a Action, reason string) bool {
	w, ok := a.(Wait)
	return ok && w.Reason == reason
}

// TestDatabasesDue is about when members are asked for their metrics: never of a cluster in which nothing gives reason to.
func TestDatabasesDue(t *testing.T) {
	for title, c := range map[string]struct {
		o    Observed
		want bool
	}{
		"nothing":             {surveyed(3), false},
		"no space":            {full(), true},
		"no space, off":       {full(func(o *Observed) { o.Cluster.Autopilot.NoSpace = ModeOff }), false},
		"no space, paused":    {full(func(o *Observed) { o.Cluster.Paused = true }), false},
		"free pages":          {surveyed(3, func(o *Observed) { sized(o, 1, 300, 90) }), true},
		"free pages, off":     {surveyed(3, func(o *Observed) { sized(o, 1, 300, 90); o.Cluster.Autopilot.Defragment = ModeOff }), false},
		"free pages, not yet": {surveyed(3, func(o *Observed) { sized(o, 1, 300, 90); o.Cluster.Autopilot.Window.Set = true }), false},
		"free pages, advised": {surveyed(3, func(o *Observed) {
			sized(o, 1, 300, 90)
			o.Cluster.Autopilot.Window.Set, o.Cluster.Autopilot.Defragment = true, ModeAdvise
		}), true},
		"free pages, none to ask": {surveyed(3, func(o *Observed) { sized(o, 1, 300, 90); o.Etcd.Contact = ContactMinority }), false},
	} {
		if got := DatabasesDue(c.o); got != c.want {
			t.Errorf("%s: %t", title, got)
		}
	}
	if NearQuota(surveyed(3)) || !NearQuota(surveyed(3, func(o *Observed) { sized(o, 2, 901, 100) })) {
		t.Error("near the quota is another")
	}
	if EvictionsBlocked(surveyed(3)) || !EvictionsBlocked(surveyed(3, readied(1))) {
		t.Error("evictions are blocked otherwise")
	}
}
