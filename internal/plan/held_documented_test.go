package plan

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// reachable is an observation in which what a row of docs/autopilot.md says is held.
type reachable struct {
	row string // how the row begins
	o   Observed
	// reason is what is held for, and says what the message has in it.
	reason, says string
}

// holes has much of every file be free.
func holes(o *Observed) {
	for i := range o.Etcd.Answers {
		sized(o, i, 1000, 300)
	}
}

// fullAlone is a cluster of one that has no space, on an emptyDir with that limit, or on a volume if it is negative.
func fullAlone(limit, inUse int64) Observed {
	o := alarmed(surveyed(1), Alarm{AlarmNoSpace, id(0)})
	sized(&o, 0, 2000, inUse)
	if limit >= 0 {
		o.Pods[0].Persistent, o.Pods[0].StorageLimit = false, limit
	}
	return o
}

// defragmentsForLong is one in which a learner has been defragmented for an hour.
func defragmentsForLong() Observed {
	o := started(withLearner(full(holes), 3))
	sized(&o, 3, 100, 95)
	o.Etcd.Answers[3].Alarms = o.Etcd.Answers[0].Alarms
	o.Etcd.Databases = append(o.Etcd.Databases, Database{Pod: name(3), PodUID: o.Pods[3].UID, Known: true, Defragmenting: now.Add(-time.Hour)})
	return o
}

// heldReasons are those of the tables of held reasons, by how the tables begin.
func heldReasons() map[string][]reachable {
	const defragmentation, quota = v1beta2.ReasonDefragmentationHeld, v1beta2.ReasonQuotaHeld
	const much = 1700 << 20
	free := func(change func(*Observed)) Observed {
		return surveyed(3, func(o *Observed) { sized(o, 1, 300, 90) }, change)
	}
	onNodes := func(o *Observed) {
		for i := range o.Pods {
			o.Pods[i].Persistent = false
		}
		o.Cluster.Persistent, o.Volumes = false, nil
	}
	return map[string][]reachable{
		"| `DefragmentationHeld` if |": {
			{"a snapshot is read", free(inDatabase(1, func(d *Database) { d.Copied = true })), defragmentation, "a snapshot is read from it"},
			{"a snapshot is read", free(func(o *Observed) { o.Cluster.BackingUp = "EtcdBackup nightly" }), defragmentation, "EtcdBackup nightly"},
			{"the metrics", free(inDatabase(2, func(d *Database) { d.Known = false })), defragmentation, "the metrics of c-2"},
			{"nine tenths of its volume", free(func(o *Observed) { o.Volumes[1].Requested = 800 * mebi }), defragmentation, "larger volumes"},
			{"it is on an emptyDir", free(func(o *Observed) { onNodes(o); o.Pods[1].StorageLimit = 800 * mebi }), defragmentation, "limits.ephemeral-storage"},
			{"defragmenting it has failed", free(inDatabase(1, last(210*mebi, time.Hour, true))), defragmentation, "has failed"},
			{"its volume is being expanded", free(func(o *Observed) { o.Volumes[1].Expanding = true }), defragmentation, "is being expanded"},
		},
		"| `DefragmentationHeld` where there is no space": {
			{"a voter is not healthy", silent(full(holes), 2), defragmentation, "all voters are healthy"},
			{"a voter is more than", full(holes, func(o *Observed) { setCommitted(o, 5000, 5000, 100) }), defragmentation, "far behind"},
			{"another member has been", defragmentsForLong(), defragmentation, "c-3 is still being defragmented"},
			{"it is on an emptyDir", fullAlone(0, 300), defragmentation, "nobody knows"},
			{"the cluster is to have one or two", fullAlone(-1, 800), defragmentation, "pause for more than 10s"},
			{"a cluster that is to have three", edit(alarmed(surveyed(2, holes), Alarm{AlarmNoSpace, id(0)}), func(o *Observed) { o.Cluster.Size = 3 }), defragmentation, "until the cluster has 3 voters"},
			{"a defragmentation has failed", full(func(o *Observed) { sized(o, 1, 1000, 300) }, inDatabase(1, last(700*mebi, time.Minute, true))), defragmentation, "has failed"},
			{"etcd says that", alarmed(full(holes), Alarm{AlarmNoSpace, id(1)}, Alarm{AlarmCorrupt, id(2)}), defragmentation, "data differs"},
		},
		"| held because |": {
			{"`SpaceExhausted`: what is in use", exhausted(), v1beta2.ReasonSpaceExhausted, "fills the quota: delete keys"},
			{"`SpaceExhausted`: the same, and", full(func(o *Observed) { o.Cluster.Autopilot.Compact = false }), v1beta2.ReasonSpaceExhausted, "compact by hand"},
			{"`SpaceExhausted`: room was made", full(func(o *Observed) { o.Etcd.RoomMade = maxRooms }), v1beta2.ReasonSpaceExhausted, "6 times within an hour"},
			{"`MakingRoom`", full(), v1beta2.ReasonMakingRoom, "the last five minutes"},
			{"`DefragmentationHeld`", full(holes, func(o *Observed) { o.Cluster.BackingUp = "EtcdBackup nightly" }), defragmentation, "EtcdBackup nightly"},
		},
		"| held because (`QuotaHeld`)": {
			{"it is at `spec", filled(much, func(o *Observed) { o.Cluster.Autopilot.MaxQuota = 2 * gibi }), quota, "spec.autopilot.quota.max"},
			{"a volume requests less", filled(much, func(o *Observed) { o.Volumes[2].Requested = 6 * gibi }), quota, "7168Mi or more"},
			{"a volume is being expanded", filled(much, func(o *Observed) { o.Volumes[1].Expanding = true }), quota, "is being expanded"},
			{"a member on an emptyDir", filled(much, onNodes), quota, "ephemeral-storage"},
		},
	}
}

// TestHeldReasonsAreReachable has what each row of these tables says be held in some cluster, and each have a row.
func TestHeldReasonsAreReachable(t *testing.T) { areReachable(t, heldReasons()) }

func areReachable(t *testing.T, tables map[string][]reachable) {
	t.Helper()
	text, err := os.ReadFile("../../docs/autopilot.md")
	if err != nil {
		t.Fatal(err)
	}
	for header, all := range tables {
		rows := rowsBelow(string(text), header)
		for _, r := range all {
			i := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, r.row) })
			if i < 0 {
				t.Errorf("%s %q has no row", header, r.row)
			}
			holds := func(h HeldAct) bool { return h.Reason == r.reason && strings.Contains(h.Message, r.says) }
			if known := Assess(r.o); !slices.ContainsFunc(known.Held, holds) {
				t.Errorf("%s %q: held is %+v, and not %s: …%s…", header, r.row, known.Held, r.reason, r.says)
			}
		}
		for _, row := range rows {
			if !slices.ContainsFunc(all, func(r reachable) bool { return strings.HasPrefix(row, r.row) }) {
				t.Errorf("%s %q cannot be reached, as far as this test knows", header, row)
			}
		}
	}
}

// rowsBelow are the rows of the table whose header begins so, without the line below that.
func rowsBelow(text, header string) (rows []string) {
	_, table, _ := strings.Cut(text, "\n"+header)
	for _, line := range strings.Split(table, "\n")[2:] {
		row, is := strings.CutPrefix(line, "| ")
		if !is {
			break
		}
		rows = append(rows, row)
	}
	return rows
}
