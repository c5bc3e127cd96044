package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// RecoveryPolicy is what was asked for in case of a lost quorum, and what has come of it.
type RecoveryPolicy struct {
	// Unlisted are the voters of which there is a pod or a claim although it lacks the cluster's labels.
	Unlisted []string `json:",omitempty"`
	// Confirmed is the hash of the plan that a user has confirmed, empty for none.
	Confirmed string `json:",omitempty"`
	// HeldBack is what is missing before any plan can be carried out, empty if nothing is.
	HeldBack string `json:",omitempty"`
	// Backup is the newest verified backup, zero if none is known.
	Backup RecoveryBackup `json:",omitzero"`
	// Restore names the EtcdRestore that carries out RestorePlan, empty if there is none. RestoreFailed is why it has failed.
	Restore, RestorePlan, RestoreFailed string `json:",omitempty"`
}

// RecoveryBackup is a backup that could be restored.
type RecoveryBackup struct {
	EtcdBackup, Snapshot string
	Revision             int64
	Taken                time.Time
}

// Recovery is the plan to recover from a lost quorum: what one voter still holds becomes the data of a new cluster.
type Recovery struct {
	// Hash identifies everything that the plan is based on.
	Hash string
	// Survivor is the voter whose data it is, Revision its revision.
	Survivor string
	Revision int64
	// Wrong are the members whose data was found to differ from what a majority of the voters agreed on, and that answer. One of them is the
	// survivor only if there is no other one.
	Wrong []string
	// Candidates are the members whose data could be taken, the survivor first.
	Candidates []Answer
	// Strangers are the members outside the recorded voters that follow a leader: there may be a quorum that the operator does not see.
	Strangers []string
	// Lost are the voters whose data no longer exists, as far as Kubernetes knows. Silent are all others that may have some.
	Lost, Silent []string
	// HeldBack is what is missing before it can be carried out, empty if nothing is.
	HeldBack string
	// Message says what the plan does, what it costs, and how it is confirmed.
	Message string
}

// recovery returns the plan, nil if there is nothing to plan: while any voter follows a leader, or a linearizable read succeeds, there
// may be a quorum that the operator does not see; while a majority of the voters answers, there may soon be one.
//
// Of the members that answer, the one that has applied most has all that any of them has: entries are applied once they are committed,
// and a committed entry never changes. So the raft term decides nothing, nor whether it votes: who has become a voter since the voters were
// recorded may have most, and so may a learner, which gives snapshots as well (etcd's newStreamInterceptor lets it). What the others have only
// in their logs is not known to be committed, and no snapshot has it.
func (v *view) recovery() *Recovery {
	known := v.Cluster.Voters
	if v.Cluster.QuorumLostSince.IsZero() { // it is part of the plan: what is shown before could not be confirmed
		return nil
	}
	if v.Cluster.ID == 0 || len(v.Etcd.Unconfirmed) > 0 || len(known) == 0 || v.mayServe(known) || v.mayServe(v.Cluster.NextVoters) {
		return nil
	}
	if slices.ContainsFunc(v.Etcd.Answers, func(a Answer) bool { return a.Leader != 0 }) {
		return nil
	}
	r := v.whoHoldsData()
	if len(r.Candidates) == 0 {
		return nil
	}
	r.Survivor, r.Revision = r.Candidates[0].Pod, r.Candidates[0].Revision
	r.Hash = r.hash(v.Cluster)
	r.HeldBack = cmp.Or(v.Cluster.Recovery.HeldBack, v.mayWake(r.Silent), v.maySettle(r.Silent), v.mayBeServed(r))
	r.Message = r.message(v.Cluster)
	return r
}

// whoHoldsData sorts all that may hold data by what is known of it, the candidates by how much they have.
func (v *view) whoHoldsData() *Recovery {
	r := &Recovery{}
	var wrong []Answer
	for _, name := range v.whoMayHoldData() {
		a, answers := v.saidBy(name)
		switch {
		case answers && a.Leader != 0:
			r.Strangers = append(r.Strangers, name)
		case answers && v.holdsData(a) && v.foundWrong(a.MemberID):
			r.Wrong, wrong = append(r.Wrong, name), append(wrong, a)
		case answers && v.holdsData(a):
			r.Candidates = append(r.Candidates, a)
		case !answers && v.lostForGood(name):
			r.Lost = append(r.Lost, name)
		default:
			r.Silent = append(r.Silent, name)
		}
	}
	if len(r.Candidates) == 0 {
		r.Candidates = wrong
	}
	slices.SortFunc(r.Candidates, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(b.Applied, a.Applied), cmp.Compare(b.Revision, a.Revision), CompareNames(a.Pod, b.Pod))
	})
	return r
}

// saidBy is the answer of that pod, whether or not it was recorded as a voter's.
func (v *view) saidBy(name string) (Answer, bool) {
	if a, ok := v.answers[name]; ok {
		return a, true
	}
	for _, a := range v.Etcd.Others {
		if a.Pod == name {
			return a, true
		}
	}
	return Answer{}, false
}

// foundWrong reports whether the member's data was found to differ from what a majority of the voters agreed on, once or more often. The mark of its volume
// tells, too: status may be an older one.
func (v *view) foundWrong(id uint64) bool {
	marked := slices.ContainsFunc(v.Volumes, func(c Volume) bool { return c.Quarantined && c.MemberID == id })
	return id == v.Cluster.Quarantined.Member || id == v.Doubt.Suspect || marked
}

// mayWake says who has yet to start after all members were stopped on purpose; empty if nobody does. Their data is on volumes, and nodes may
// have to be made for them first.
func (v *view) mayWake(silent []string) string {
	asleep := slices.DeleteFunc(slices.Clone(silent), func(name string) bool {
		p, there := v.pods[name]
		return there && p.Phase != Pending || !v.usable(v.volumes[name])
	})
	if v.Cluster.Hibernation != Waking || len(asleep) == 0 {
		return ""
	}
	return fmt.Sprintf("have the pods of %s start: the cluster wakes up, and their data is on volumes. If it is lost for good, delete those claims",
		list(asleep))
}

// mayBeServed says whom the operator does not hear, or does not know to vote, that may be part of a quorum which serves clients; empty if
// there is nobody.
func (v *view) mayBeServed(r *Recovery) string {
	if len(r.Strangers) > 0 {
		return fmt.Sprintf("find out whether %s may be part of a quorum that the operator does not see: a leader is followed there, by who is not "+
			"recorded as a voter. If nobody serves clients, delete the pod", list(r.Strangers))
	}
	mute := slices.DeleteFunc(slices.Clone(v.Etcd.Mute), func(name string) bool { return !slices.Contains(r.Silent, name) })
	if len(mute) > 0 && (v.mayServe(v.Cluster.Voters, mute...) || v.mayServe(v.Cluster.NextVoters, mute...)) {
		return fmt.Sprintf("wait for an answer of %s, or delete the pod: connections are taken there, so clients may be served although the operator "+
			"got no answer within a second", list(mute))
	}
	return ""
}

// mayServe reports whether a majority of these voters runs as far as the operator can tell: servers that answer anything at all, or
// with which it does not get as far as that because they and the operator do not accept each other's certificates, may serve clients. So
// may those that are mute, where these are given.
func (v *view) mayServe(voters []string, mute ...string) bool {
	up := 0
	for _, name := range voters {
		answers := slices.Contains(mute, name) || slices.ContainsFunc(v.Etcd.Answers, func(a Answer) bool { return a.Pod == name })
		if answers || slices.ContainsFunc(v.Etcd.Handshakes, func(f HandshakeFailure) bool { return f.Pod == name }) {
			up++
		}
	}
	return len(voters) > 0 && up >= Quorum(len(voters))
}

// whoMayHoldData are the voters, in the order of the record, then those of a change that was under way, and then all others that were
// permitted to start: what is not known of them since the quorum was lost may be that they vote, and have more than the survivor.
func (v *view) whoMayHoldData() []string {
	names := slices.Clone(v.Cluster.Voters)
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range v.Cluster.NextVoters {
		add(name)
	}
	for _, p := range v.Pods {
		if p.Permit != nil {
			add(p.Name)
		}
	}
	for _, c := range v.Volumes {
		if c.MemberID != 0 {
			add(c.Name)
		}
	}
	return names
}

// nodesSettle is how long it takes until a node that has stopped to report shows in its pods: Kubernetes waits for 40 s, and the operator's
// pods tolerate it for 30 s more.
const nodesSettle = 2 * time.Minute

// maySettle says why nothing is replaced yet because of silent members whose pods exist, empty if it may be. A pod that is being deleted
// and does not go is on a node that does not report: it has to be off for certain first, for after the decision nobody looks at the
// former members any more, and they might come back as a majority.
func (v *view) maySettle(silent []string) string {
	var leaving, there, unmarked []string
	for _, name := range silent {
		if c, ok := v.volumes[name]; ok && c.MemberID == 0 {
			unmarked = append(unmarked, name)
		}
		switch p, ok := v.pods[name]; {
		case ok && p.Deleting:
			leaving = append(leaving, name)
		case ok:
			there = append(there, name)
		}
	}
	switch since := v.Cluster.QuorumLostSince; {
	case len(unmarked) > 0:
		return fmt.Sprintf("save what is on the claims of %s, and delete these: nothing on them says that a member has used them, and after a "+
			"restore such claims are deleted", list(unmarked))
	case len(leaving) > 0:
		return fmt.Sprintf("have the pods of %s go: once their nodes are off for certain, delete these Nodes, or give them the taint "+
			"node.kubernetes.io/out-of-service", list(leaving))
	case len(there) > 0 && (since.IsZero() || v.Now.Sub(since) < nodesSettle):
		return fmt.Sprintf("wait until the quorum has been lost for %s: by then it is known whether the nodes of %s report", nodesSettle, list(there))
	}
	return ""
}

// holdsData reports whether the answer is of a member of the cluster, on its own data, that can be asked for a snapshot.
func (v *view) holdsData(a Answer) bool {
	p, c := v.pods[a.Pod], v.volumes[a.Pod]
	own := !p.Persistent || c.MemberID == a.MemberID && c.ClusterID == a.ClusterID
	corrupt := slices.Contains(a.Alarms, Alarm{Kind: AlarmCorrupt, Member: a.MemberID})
	return own && !corrupt && a.ClusterID == v.Cluster.ID && p.Permit != nil && !p.Deleting && p.Phase == Running
}

// lostForGood reports whether a voter's data no longer exists as far as Kubernetes knows. Whatever may still have some is silent: a claim that
// is there, even one that is being deleted or that member-run does not find its data on, because it may not be mounted.
func (v *view) lostForGood(name string) bool {
	if slices.Contains(v.Cluster.Recovery.Unlisted, name) {
		return false
	}
	p, there := v.pods[name]
	ended := !there || p.Permit == nil || p.Phase == Finished
	if there && p.Persistent {
		ended = ended || p.Exit.DataGone()
	}
	return ended && !slices.ContainsFunc(v.whole.Volumes, func(c Volume) bool { return c.Name == name && !c.Lost })
}

// hash is one of everything that a user who confirms the plan relies on. What changes without meaning anything, such as the UID of a
// pod on the same volume, is not part of it.
func (r *Recovery) hash(of Cluster) string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%x\n%q\n%q\n%q\n%q\n%q\n%d\n", of.ID, of.Voters, of.NextVoters, r.Wrong, r.Lost, r.Silent,
		of.QuorumLostSince.Unix())
	for _, a := range r.Candidates {
		_, _ = fmt.Fprintf(sum, "%q %x %d %d\n", a.Pod, a.MemberID, a.Applied, a.Revision)
	}
	const enough = 6
	return hex.EncodeToString(sum.Sum(nil)[:enough])
}

// recoveryVoid reports whether the EtcdRestore at hand was to carry out another plan than the present one: the quorum is back, what is
// observed has changed since the plan was confirmed, or what was saved is not what the plan promises.
func (v *view) recoveryVoid() bool {
	c, r := v.Cluster, v.Recovery
	if c.RestorePlan == "" {
		return false
	}
	return r == nil || r.Hash != c.RestorePlan || r.Survivor != c.RestoreSurvivor || r.Revision > c.Safety.Revision
}
