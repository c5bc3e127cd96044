package plan

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestHeldFeaturesAreReachable is the same for the tables of the other features, which are kept apart because their clusters are others.
func TestHeldFeaturesAreReachable(t *testing.T) {
	areReachable(t, map[string][]reachable{
		"| `ResourcesHeld` because |":           heldResources(),
		"| held for | because |":                heldPatches(),
		"| held for `RelocationHeld` because |": heldRelocations(),
		"| reason | why |":                      heldDiverged(),
	})
}

func heldResources() []reachable {
	const reason = v1beta2.ReasonResourcesHeld
	busy := func(change func(*Observed)) Observed { return requesting(uses(1, much), change) }
	return []reachable{
		{"it is at `spec", busy(func(o *Observed) { o.Cluster.Autopilot.MaxResources.CPU = 1000 }), reason, "spec.autopilot.resources.max.cpu"},
		{"it is at `spec", busy(func(o *Observed) { o.Cluster.Autopilot.MaxResources.CPU = 0 }), reason, "what spec.pod.resources says"},
		{"the last time", busy(changed(spec, spec, time.Hour, "the node is full")), reason, "given up, because the node is full"},
		{"`spec.pod.template` has", busy(func(o *Observed) { o.Pods[1].ResizeRestarts = true }), reason, "resizePolicy of RestartContainer"},
		{"a pod cannot be resized", requesting(uses(1, much), changed(spec, spec, 25*time.Hour, "why"), func(o *Observed) { o.Pods[1].ResizeRefused = true }), reason, "c-1 cannot be resized"},
	}
}

func heldPatches() []reachable {
	const reason = v1beta2.ReasonPatchHeld
	set := func(change func(*Cluster)) Observed { return patchable(func(o *Observed) { change(&o.Cluster) }) }
	tries := func(ready bool, since time.Duration) Observed {
		return patchable(chose(former, time.Hour), updated(1, ready, since))
	}
	off := func(o Observed) Observed {
		return edit(o, func(o *Observed) { o.Cluster.Autopilot.Patches = ModeOff })
	}
	givenUp := func(c *Cluster) {
		c.Tuned.Patch = Patch{Version: former, Since: now.Add(-time.Hour), GivenUp: GivenUpPatch{Version: newest, Because: "there is no such tag"}}
	}
	return []reachable{
		{"`PatchHeld` | there is no verified backup", set(func(c *Cluster) { c.Backup = RecoveryBackup{} }), reason, "no EtcdBackup has"},
		{"`PatchHeld` | there is no verified backup", set(func(c *Cluster) { c.Backup.Taken = now.Add(-25 * time.Hour) }), reason, "older than 24 hours"},
		{"`PatchHeld` | etcd has raised an alarm", alarmed(patchable(), Alarm{AlarmNoSpace, id(1)}), reason, "alarm (NOSPACE)"},
		{"`PatchHeld` | the data of a member differs", set(func(c *Cluster) { c.Doubt.Suspect = id(1) }), reason, "the data of a member differs"},
		{"`PatchHeld` | another cluster", set(func(c *Cluster) { c.RefusedElsewhere = now.Add(-time.Hour) }), reason, "rolled back in another cluster"},
		{"`PatchHeld` | no member could get it", set(givenUp), reason, "because there is no such tag"},
		{"`PatchHeld` | the first member with it is not healthy", off(tries(false, time.Hour)), reason, "and is not healthy"},
		{"`PatchHeld` | etcd raised its alarm CORRUPT", off(alarmed(passed(alarmed(tries(true, 5*time.Minute), Alarm{AlarmCorrupt, id(1)}), time.Minute))), reason, "(alarm CORRUPT)"},
		{"`PatchOnTrial` | one member tries it", tries(true, time.Minute), v1beta2.ReasonPatchOnTrial, "the others follow at"},
		{"`PatchRefused` | this release was rolled back", set(func(c *Cluster) { c.RefusedPatches = []RefusedPatch{{Version: newest}} }), v1beta2.ReasonPatchRefused, "was rolled back"},
	}
}

func heldRelocations() []reachable {
	const reason = v1beta2.ReasonRelocationHeld
	slow := func(change func(*Observed)) Observed { return edit(slowed(3, 1), change) }
	before := func(givenUp string) func(*Observed) {
		return func(o *Observed) {
			o.Cluster.Relocation = Relocation{Name: "c-4", Node: "n4", Since: now.Add(-time.Hour), GivenUp: givenUp}
		}
	}
	voting := silent(moving(4, 3, 3, ModeOn), 0)
	voting.Cluster.Relocation.Successor = id(1)
	return []reachable{
		{"the disks of all members", slowed(3, 0, 1, 2), reason, "the disks of all members"},
		{"the cluster has, or is to have, fewer", slowed(2, 1), reason, "three voters or more"},
		{"the cluster has, or is to have, fewer", slow(func(o *Observed) { o.Cluster.Size = 1 }), reason, "three voters or more"},
		{"a relocation began, or was given up", slow(before("")), reason, "that of c-4 off node n4 began"},
		{"a relocation began, or was given up", slow(before("no node fits")), reason, "no node fits"},
		{"the slow member was moved to that node", slow(func(o *Observed) { o.Pods[1].Avoids = "n4" }), reason, "away from node n4"},
		{"the new member votes, and another voter", voting, reason, "c-3 is removed, which ends its move"},
		{"etcd has raised an alarm, or a snapshot", alarmed(slowed(3, 1), Alarm{AlarmNoSpace, id(0)}), reason, "NOSPACE"},
		{"etcd has raised an alarm, or a snapshot", slow(func(o *Observed) { o.Cluster.BackingUp = "EtcdBackup nightly" }), reason, "EtcdBackup nightly"},
		{"it is not known on which node", slow(func(o *Observed) { o.Pods[1].Node = "" }), reason, "not known which node"},
	}
}

func heldDiverged() []reachable {
	const held, unclear = v1beta2.ReasonDivergedMemberHeld, v1beta2.ReasonDivergedMemberUnclear
	three := healthyCluster(3, true)
	gone := quarantined(three, 1)
	return []reachable{
		{"`DivergedMemberHeld`", compared(three, nil, []int64{0, 1, 0}), held, "if the next compaction shows the same"},
		{"`DivergedMemberHeld`", edit(three, func(o *Observed) { o.Cluster.Autopilot.Diverged, o.Cluster.Doubt.Suspect = ModeOn, id(1) }), held, "run etcdctl compact REVISION three times"},
		{"`DivergedMemberHeld`", silent(unserved(gone, 1), 2), held, "once all others are healthy"},
		{"`DivergedMemberHeld`", edit(gone, lowering(0, 2)), held, "once the downgrade is complete"},
		{"`DivergedMemberHeld`", mode(gone, ModeOff), held, "with mode On it is replaced"},
		{"`DivergedMemberUnclear`", compared(healthyCluster(2, true), nil, []int64{0, 1}), unclear, "there is no majority"},
		{"`DivergedMemberUnclear`", compared(three, nil, []int64{0, 1, 2}), unclear, "there is no majority"},
		{"`DivergedMemberUnclear`", compared(healthyCluster(5, true), nil, []int64{0, 0, 0, 1, 2}), unclear, "there is no majority"},
		{"`DivergedMemberUnclear`", alarmed(compared(three, nil, nil), Alarm{AlarmCorrupt, 0}), unclear, "no comparison of the voters' data confirms it"},
		{"`DivergedMemberUnclear`", alarmed(differs(three, 1), Alarm{AlarmCorrupt, id(2)}), unclear, "alarm CORRUPT names"},
		{"`WaitingForBrake`", edit(differs(three, 1), func(o *Observed) { o.MayDisturb = false }), v1beta2.ReasonWaitingForBrake, "fewer clusters"},
		{"`AutopilotAdvises`", mode(differs(three, 1), ModeAdvise), v1beta2.ReasonAutopilotAdvises, "with mode On it would be replaced"},
	}
}
