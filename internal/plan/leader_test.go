package plan

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// hung is a cluster of which one member's disk does not answer, for long enough to be sure, and whose budget is closed.
func hung(o Observed, i int) Observed {
	o = closed(o)
	o.Pods[i].Ready, o.Pods[i].Created = false, now.Add(-time.Hour)
	o.Etcd.Disks = append(o.Etcd.Disks, Disk{Pod: name(i), PodUID: o.Pods[i].UID, Stalled: stalledLimit})
	return o
}

// watched is a cluster whose disks were watched for long enough; a flush takes so long on each.
func watched(o Observed, flushes ...time.Duration) Observed {
	for i, flush := range flushes {
		o.Etcd.Disks = append(o.Etcd.Disks, Disk{Pod: name(i), PodUID: o.Pods[i].UID, Watched: minWatch, FlushTime: flush})
	}
	return o
}

func TestDiskThatHangs(t *testing.T) {
	down := Wait{Reason: v1beta2.ReasonMemberDown}
	end := DeletePod{Name: "c-0", UID: "p0", Why: v1beta2.ReasonDiskHangs}
	case0 := func(change func(*Observed)) Observed { return edit(hung(healthyCluster(3, true), 0), change) }
	opened := func(o Observed) Observed {
		o.Budget.MinAvailable = MinAvailable(len(o.Pods))
		return o
	}
	check(t, map[string]planCase{
		"its member still answers from memory: it is ended": {hung(healthyCluster(3, true), 0), end},
		"its member answers nothing":                        {silent(hung(healthyCluster(3, true), 0), 0), end},
		"an eviction must not take another one meanwhile": {
			case0(func(o *Observed) { o.Budget.MinAvailable = 2 }), SetBudget{MinAvailable: 3},
		},
		"not until that is sure": {
			silent(case0(func(o *Observed) { o.Etcd.Disks[0].Stalled--; o.Budget.MinAvailable = 2 }), 0), down,
		},
		"not while its pod is Ready": {case0(func(o *Observed) { o.Pods[0].Ready = true; o.Budget.MinAvailable = 2 }), down},
		"not again at once": {
			case0(func(o *Observed) { o.Pods[0].Created = now.Add(-minPodAge); o.Budget.MinAvailable = 2 }), down,
		},
		"it was another pod's": {
			edit(healthyCluster(3, true), func(o *Observed) {
				o.Etcd.Disks = []Disk{{Pod: "c-0", PodUID: "gone", Stalled: time.Hour}}
			}), Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"not while another one is down":           {opened(silent(hung(healthyCluster(5, true), 0), 3)), down},
		"two at once":                             {opened(hung(hung(healthyCluster(5, true), 0), 1)), down},
		"not on an emptyDir, whose data would go": {opened(hung(healthyCluster(3, false), 0)), down},
		"on its way out already": {
			case0(func(o *Observed) { o.Pods[0].Deleting, o.Pods[0].Deadline = true, now; o.Budget.MinAvailable = 2 }),
			Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"too long on its way out, though it answers from memory": {
			case0(func(o *Observed) { o.Pods[0].Deleting, o.Pods[0].Deadline = true, now.Add(-time.Hour) }),
			RemoveMember{ID: id(0), Name: "c-0", Why: v1beta2.ReasonNodeLost},
		},
	})
}

func TestSlowLeader(t *testing.T) {
	idle := Idle{Reason: v1beta2.ReasonSpecReached}
	slow := func(change func(*Observed)) Observed {
		return edit(watched(healthyCluster(3, true), 500*time.Millisecond, 20*time.Millisecond, 2*time.Millisecond),
			func(o *Observed) {
				for i := range o.Pods {
					o.Pods[i].Ready = true
				}
				change(o)
			})
	}
	move := MoveLeader{From: id(0), To: id(2), FromName: "c-0", ToName: "c-2", Slow: "c-0"}
	check(t, map[string]planCase{
		"hands over to the quickest": {slow(func(*Observed) {}), move},
		"that is not Ready": {
			slow(func(o *Observed) { o.Pods[2].Ready = false }),
			MoveLeader{From: id(0), To: id(1), FromName: "c-0", ToName: "c-1", Slow: "c-0"},
		},
		"hardly anything is written": {slow(func(o *Observed) { o.Etcd.Disks[0].FlushTime = 0 }), idle},
		"not that slow":              {slow(func(o *Observed) { o.Etcd.Disks[0].FlushTime = slowFlush }), idle},
		"not for long":               {slow(func(o *Observed) { o.Etcd.Disks[0].Watched-- }), idle},
		"not a second time so soon":  {slow(func(o *Observed) { o.Cluster.LeaderMoved = now.Add(-leaderCooldown / 2) }), idle},
		"again after a while":        {slow(func(o *Observed) { o.Cluster.LeaderMoved = now.Add(-leaderCooldown) }), move},
		"all are slow": {slow(func(o *Observed) {
			o.Etcd.Disks[1].FlushTime, o.Etcd.Disks[2].FlushTime = 130*time.Millisecond, 400*time.Millisecond
		}), idle},
		"a follower": {slow(func(o *Observed) { o.Etcd.Disks[0].FlushTime, o.Etcd.Disks[1].FlushTime = 0, time.Second }), idle},
		"not while a member is down": {
			silent(slow(func(*Observed) {}), 1), Wait{Reason: v1beta2.ReasonMemberDown},
		},
	})
}

// Whatever the disks do, nobody is disturbed because of one unless all other voters are well, on a volume of its own.
func TestDisksNeverCostAQuorum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 5).Draw(t, "size")
		o := closed(healthyCluster(size, rapid.Bool().Draw(t, "persistent")))
		bad := 0
		for i := range size {
			o.Pods[i].Ready = rapid.Bool().Draw(t, "ready")
			o.Pods[i].Created = now.Add(-time.Duration(rapid.IntRange(0, 300).Draw(t, "age")) * time.Second)
			d := Disk{
				Pod: name(i), PodUID: o.Pods[i].UID,
				Stalled:   time.Duration(rapid.IntRange(0, 10).Draw(t, "stalled")) * time.Second,
				Watched:   time.Duration(rapid.IntRange(0, 10).Draw(t, "watched")) * time.Second,
				FlushTime: time.Duration(rapid.IntRange(0, 1000).Draw(t, "flush")) * time.Millisecond,
			}
			o.Etcd.Disks = append(o.Etcd.Disks, d)
			silent := rapid.Bool().Draw(t, "silent")
			if silent {
				o.Etcd.Answers[i].Pod = "nobody"
			}
			if silent || d.Stalled >= stalledLimit {
				bad++
			}
		}
		switch a := Next(o).(type) {
		case DeletePod:
			if bad > 1 || size < 3 || !o.Cluster.Persistent || a.Why != v1beta2.ReasonDiskHangs {
				t.Errorf("%+v with %d of %d bad", a, bad, size)
			}
		case MoveLeader:
			if bad > 0 || size < 2 {
				t.Errorf("%+v with %d of %d bad", a, bad, size)
			}
		case RemoveMember, Recreate, SetImage:
			t.Errorf("%+v", a)
		default: // it disturbs nobody
		}
	})
}
