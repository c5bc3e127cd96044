package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestMakeRoomAlone is about clusters of which no voter can be spared: etcd takes no writes anyway, and their clients have nowhere to go.
func TestMakeRoomAlone(t *testing.T) {
	for _, size := range []int{1, 2} {
		o := alarmed(surveyed(size), Alarm{AlarmNoSpace, id(0)})
		o.Budget.MinAvailable = size
		for i := range size {
			sized(&o, i, 1000, 300)
		}
		if a, ok := Next(o).(Defragment); !ok || a.Name != name(size-1) {
			t.Errorf("of %d: %#v", size, Next(o))
		}
		for i := range size {
			sized(&o, i, 2000, 800)
		}
		if a, ok := Next(o).(Defragment); ok {
			t.Errorf("of %d that would pause for long: %#v", size, a)
		}
	}
}

// TestMakeRoomOfTwoOfThree waits for the third voter of a cluster that is to have three: it has clients that count on it.
func TestMakeRoomOfTwoOfThree(t *testing.T) {
	o := alarmed(surveyed(2), Alarm{AlarmNoSpace, id(0)})
	o.Cluster.Size, o.Budget.MinAvailable = 3, 2
	for i := range 2 {
		sized(&o, i, 1000, 300)
	}
	if a, ok := Next(o).(CreateVolumes); !ok {
		t.Errorf("it does not add the third: %#v", a)
	}
	if said := held(o); !strings.Contains(said, "noSpace DefragmentationHeld") || !strings.Contains(said, "until the cluster has 3 voters") {
		t.Errorf("it holds %q", said)
	}
	if a, _ := newView(o).guarded(runningGuards, Defragment{ID: id(1), Name: name(1)}); !waitsFor(a, v1beta2.ReasonQuorumAtRisk) {
		t.Errorf("it is defragmented all the same: %#v", a)
	}
}

// inDatabase changes what is known of a member's database.
func inDatabase(i int, change func(*Database)) func(*Observed) {
	return func(o *Observed) { change(&o.Etcd.Databases[i]) }
}

// TestMakeRoomHeld is about what is not to be done for room.
func TestMakeRoomHeld(t *testing.T) {
	roomy := func(o *Observed) {
		for i := range o.Etcd.Answers {
			sized(o, i, 890, 880)
		}
	}
	untold := func(d *Database) { d.Known, d.Rests = false, false }
	older := func(o *Observed) { o.Etcd.PastRevision = 95 }
	const held0 = "noSpace DefragmentationHeld: etcd takes no writes (alarm NOSPACE), and "
	for title, c := range map[string]struct {
		o    Observed
		held string
	}{
		"data differs, and there is room": {alarmed(full(roomy), Alarm{AlarmNoSpace, id(1)}, Alarm{AlarmCorrupt, id(2)}), held0 + "nothing is done about that while the members' data differs"},
		"history that is data, and metrics of a full one unknown": {
			full(func(o *Observed) { o.Cluster.Autopilot.Compact = false }, inDatabase(1, untold)), held0 + "nothing is done before the metrics",
		},
		"a learner that is full and tells nothing": {full(func(o *Observed) { o.Etcd.Members[2].Learner = true }, inDatabase(2, untold)), held0 + "nothing is done before the metrics"},
		"history, after a defragmentation has failed": {
			full(older, func(o *Observed) { sized(o, 1, 1000, 300) }, inDatabase(1, last(700*mebi, time.Minute, true))), held0 + "defragmenting c-1 has failed",
		},
		"a failure, and more that is compacted": {
			full(inDatabase(1, last(5*mebi, 2*time.Minute, true)), inDatabase(1, func(d *Database) { d.Removed = 9 })), held0 + "defragmenting c-1 has failed",
		},
		"it was in vain twice": {full(inDatabase(1, func(d *Database) { d.Removed = 9 }), inDatabase(1, vain(2, 3*time.Minute))), "noSpace MakingRoom"},
		"room was made often":  {full(older, func(o *Observed) { o.Etcd.RoomMade = 6 }), "noSpace SpaceExhausted: etcd takes no writes (alarm NOSPACE), and room was made 6 times within an hour"},
	} {
		t.Run(title, func(t *testing.T) {
			if a := makeRoom(newView(c.o)); a != nil {
				t.Errorf("it does %q", Describe(a).Message)
			}
			if said := held(c.o); !strings.HasPrefix(said, c.held) {
				t.Errorf("it holds %q, not %q", said, c.held)
			}
		})
	}
	for n, after := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		o := full(readied(1), inDatabase(1, func(d *Database) { d.Removed = 9 }))
		early, late := edit(o, inDatabase(1, vain(n, after-time.Second))), edit(o, inDatabase(1, vain(n, after)))
		if _, begins := makeRoom(newView(early)).(Defragment); begins {
			t.Errorf("after %d in vain it begins before %s", n, after)
		}
		if _, begins := makeRoom(newView(late)).(Defragment); !begins {
			t.Errorf("after %d in vain it does not begin after %s", n, after)
		}
	}
}

// vain is that so many defragmentations in a row have freed next to nothing.
func vain(n int, ago time.Duration) func(*Database) {
	return func(d *Database) { d.Last = &Defragmentation{At: now.Add(-ago), Free: 5 * mebi, Vain: n} }
}

// TestRoomOnNodes is about members on emptyDirs: the kubelet evicts a pod that uses more than it may, and its data is gone.
func TestRoomOnNodes(t *testing.T) {
	of := func(size int, limit int64) Observed {
		o := alarmed(surveyed(size), Alarm{AlarmNoSpace, id(0)})
		o.Budget.MinAvailable = size
		for i := range size {
			sized(&o, i, 1000, 300)
			o.Pods[i].Persistent, o.Pods[i].StorageLimit = false, limit*mebi
		}
		return o
	}
	for title, c := range map[string]struct {
		o    Observed
		want string
	}{
		"one, no limit":            {of(1, 0), "how much room there is nobody knows"},
		"one, a limit":             {of(1, 1860), ""},
		"one, a limit too low":     {of(1, 1850), "raise spec.pod.resources.limits.ephemeral-storage"},
		"two, no limit":            {of(2, 0), "how much room there is nobody knows"},
		"three, no limit":          {of(3, 0), ""},
		"three, a limit too low":   {of(3, 1850), "raise spec.pod.resources.limits.ephemeral-storage"},
		"three, a limit that does": {of(3, 1860), ""},
	} {
		if said := held(c.o); !strings.Contains(said, c.want) || c.want == "" && said != "" {
			t.Errorf("%s: it holds %q, not %q", title, said, c.want)
		}
	}
}

// TestServedWhileItRests has a member stay out of the client Service that has left it to be defragmented, although etcd frees pages again.
func TestServedWhileItRests(t *testing.T) {
	holes := func(o *Observed) { sized(o, 1, 1000, 300) }
	moves := inDatabase(1, func(d *Database) { d.Rests = false })
	for title, o := range map[string]Observed{
		"for room":    full(holes, readied(1), moves),
		"for nothing": surveyed(3, func(o *Observed) { sized(o, 1, 300, 90) }, readied(1), moves),
	} {
		if a, ok := Next(o).(Defragment); !ok {
			t.Errorf("%s: %#v", title, a)
		}
	}
}
