package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

const (
	// slowDisk is what a flush may take, as in the alert EtcdDiskSlow: a leader sends heartbeats as often. slowNetwork is what a probe of another
	// member may take, as in EtcdPeerSlow.
	slowDisk, slowNetwork = 100 * time.Millisecond, 150 * time.Millisecond
	// full is which share of its quota a member's data may take up, as in the alert EtcdSpaceLow.
	full = 0.8
)

// spoken are the members that have answered, in order, with what they said.
func (f *Facts) spoken() (names []string) {
	for _, m := range f.Cluster.Status.MemberStatuses {
		if a, asked := f.Answers[m.Name]; asked && spoke(a) {
			names = append(names, m.Name)
		}
	}
	return names
}

// answers tells who could not be asked, so that nothing is known of the inside of their etcd.
func answers(f *Facts) []Finding {
	if len(f.Cluster.Status.MemberStatuses) == 0 {
		return nil
	}
	const what = "alarms, lag, space, disk and network"
	if f.Unread[Members] != "" {
		return []Finding{{Verdict: Unknown, Found: what + " are not known: " + f.Unread[Members]}}
	}
	var found []Finding
	for _, m := range f.Cluster.Status.MemberStatuses {
		a := f.Answers[m.Name]
		switch {
		case a.Unasked != "":
			found = append(found, Finding{Verdict: Unknown, Found: fmt.Sprintf("%s of %s are not known: %s", what, m.Name, a.Unasked)})
		case a.Podless:
			found = append(found, Finding{Verdict: Unknown, Found: fmt.Sprintf("%s of %s are not known: %s", what, m.Name, a.Problem)})
		}
	}
	if len(found) == 0 && len(f.spoken()) == 0 {
		return []Finding{{Verdict: Unknown, Found: what + " are not known: no member answers"}}
	}
	return orGood(found, "%d members were asked", len(f.spoken()))
}

// lag tells who is behind the others.
func lag(f *Facts) []Finding {
	names := f.spoken()
	if len(names) == 0 {
		return nil
	}
	var furthest, most uint64
	for _, name := range names {
		furthest = max(furthest, f.Answers[name].Index)
	}
	var found []Finding
	for _, name := range names {
		behind := furthest - min(furthest, f.Answers[name].Applied)
		if most = max(most, behind); behind > plan.LagLimit {
			one := doubtful("%s is %d entries behind", name, behind)
			one.Next = "no other member is updated before it has caught up"
			one.ByHand = "look at its disk, and at the network to its node. A member that has just come back catches up by itself"
			found = append(found, one)
		}
	}
	return orGood(found, "nobody is more than %d entries behind", most)
}

// quota is that of a member, in bytes, 0 for no limit. From 3.6 on etcd says it.
func (f *Facts) quota(name string) int64 {
	if said := f.Answers[name].Quota; said != 0 {
		return said
	}
	options, _ := resources.Options(f.Cluster, f.Cluster.Status.CurrentVersion)
	return resources.Quota(options)
}

// space compares what is used of the databases with their quotas.
func space(f *Facts) []Finding {
	var found []Finding
	most, says := -1, ""
	for _, name := range f.spoken() {
		a, quota := f.Answers[name], f.quota(name)
		if quota <= 0 {
			continue
		}
		used := percent(a.InUse, quota)
		if used > most {
			most, says = used, fmt.Sprintf("the fullest, %s, has %s of data, %d %% of its quota of %s", name, terminal.Size(a.InUse), used, terminal.Size(quota))
		}
		if float64(a.InUse) > full*float64(quota) {
			one := doubtful("%s has %s of data, %d %% of its quota of %s: at 100 %% it takes no writes", name, terminal.Size(a.InUse), used, terminal.Size(quota))
			one.ByHand = "raise spec.etcd.quotaBackendBytes, set spec.etcd.autoCompaction, or delete keys"
			one.Runbook = runbook("EtcdSpaceLow")
			found = append(found, one)
		}
	}
	switch {
	case len(f.spoken()) == 0:
		return nil
	case most < 0:
		return good("the databases have no quota")
	}
	return orGood(found, "%s", says)
}

// fragmentation tells whose file is near its quota although its data is not: etcd counts the free pages, too.
func fragmentation(f *Facts) []Finding {
	var found []Finding
	most := 0
	for _, name := range f.spoken() {
		a, quota := f.Answers[name], f.quota(name)
		free := percent(a.Bytes-a.InUse, a.Bytes)
		most = max(most, free)
		if quota > 0 && float64(a.Bytes) > full*float64(quota) && float64(a.InUse) <= full*float64(quota) {
			one := doubtful("the file of %s takes %d %% of its quota, and %d %% of the file is free: it counts all the same", name, percent(a.Bytes, quota), free)
			one.ByHand = "defragment one member at a time, the leader last: each serves nobody meanwhile"
			if len(found) == 0 {
				one.Commands = []string{f.command("defrag", "--all")}
			}
			found = append(found, one)
		}
	}
	if len(f.spoken()) == 0 {
		return nil
	}
	return orGood(found, "at most %d %% of a file is free, which is used again", most)
}

// disk tells whose log is slow to be on the disk.
func disk(f *Facts) []Finding {
	var found []Finding
	var slowest time.Duration
	for _, name := range f.spoken() {
		if why := f.Answers[name].MetricsProblem; why != "" {
			found = append(found, Finding{Verdict: Unknown, Found: fmt.Sprintf("how fast the disk and the network of %s are is not known: %s", name, why)})
		}
		took := f.Answers[name].Fsync
		if slowest = max(slowest, took); took > slowDisk {
			one := doubtful("one of 100 flushes of the log of %s has taken more than %s since it started", name, short(took))
			one.Next = "the leadership moves to another member if this one leads and is much slower than the others"
			one.ByHand, one.Runbook = "look at what else uses that disk", runbook("EtcdDiskSlow")
			found = append(found, one)
		}
	}
	switch {
	case len(f.spoken()) == 0:
		return nil
	case slowest == 0 && len(found) == 0:
		return []Finding{{Verdict: Unknown, Found: "how fast the disks are is not known: no member gave its metrics"}}
	}
	return orGood(found, "99 of 100 flushes of the log take %s at most", short(slowest))
}

// network tells who is slow to reach whom.
func network(f *Facts) []Finding {
	var found []Finding
	var slowest time.Duration
	for _, name := range f.spoken() {
		for _, to := range f.Cluster.Status.MemberStatuses {
			id, err := strconv.ParseUint(to.ID, 16, 64)
			took := f.Answers[name].RoundTrips[id]
			if err != nil || to.Name == name || took == 0 {
				continue
			}
			if slowest = max(slowest, took); took > slowNetwork {
				one := doubtful("one of 100 round trips from %s to %s has taken more than %s since it started", name, to.Name, short(took))
				one.ByHand, one.Runbook = "look at the network between their nodes, and at their processors", runbook("EtcdPeerSlow")
				found = append(found, one)
			}
		}
	}
	if slowest == 0 {
		return nil // one member, or none that gave its metrics
	}
	return orGood(found, "99 of 100 round trips between members take %s at most", short(slowest))
}

// hashes compares all keys of all members at one revision.
func hashes(f *Facts) []Finding {
	switch {
	case f.Unread[Hashes] != "":
		return f.unread(Hashes, "whether the members have the same data")
	case f.Hashes == nil:
		return nil
	}
	var found []Finding
	same := map[string][]string{} // members by hash
	revision := int64(0)
	for _, m := range f.Cluster.Status.MemberStatuses {
		h, asked := f.Hashes[m.Name]
		switch {
		case !asked:
		case h.Problem != "":
			found = append(found, Finding{Verdict: Unknown, Found: fmt.Sprintf("the data of %s is not compared: %s", m.Name, h.Problem)})
		default:
			revision = h.Revision
			key := fmt.Sprintf("%08x from revision %d", h.Value, h.Compacted)
			same[key] = append(same[key], m.Name)
		}
	}
	if len(same) < 2 {
		return orGood(found, "the keys of %d members are the same at revision %d", len(f.Hashes), revision)
	}
	if compacted(f.Hashes) {
		return append(found, Finding{
			Verdict: Unknown, Found: "the members have compacted meanwhile, and their hashes cannot be compared", ByHand: "run it again",
		})
	}
	var says []string
	for key, names := range same {
		hash, _, _ := strings.Cut(key, " ")
		says = append(says, hash+" of "+strings.Join(names, ", "))
	}
	slices.Sort(says)
	one := wrong("the data differs at revision %d: hash %s", revision, strings.Join(says, "; hash "))
	one.ByHand = reasons.Of(v1beta2.ReasonCorrupt).Todo
	one.Runbook = runbook("EtcdWritesRefused")
	return append(found, one)
}

// compacted reports whether members hash from different revisions on.
func compacted(all map[string]Hash) bool {
	from := map[int64]bool{}
	for _, h := range all {
		if h.Problem == "" {
			from[h.Compacted] = true
		}
	}
	return len(from) > 1
}

func percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(100 * float64(part) / float64(whole))
}

// short is a duration as people write it.
func short(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
