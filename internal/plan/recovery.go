package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// RecoveryPolicy is what was asked for in case of a lost quorum, and what has come of it.
type RecoveryPolicy struct {
	// Automatic is true if the operator confirms a plan by itself, Deadline after LostSince, where the data of a majority is provably
	// lost. LostSince is zero while there is a quorum, or if none was ever recorded.
	Automatic bool          `json:",omitempty"`
	Deadline  time.Duration `json:",omitempty"`
	LostSince time.Time     `json:",omitzero"`
	// Confirmed is the hash of the plan that a user has confirmed, empty for none.
	Confirmed string `json:",omitempty"`
	// HeldBack is what is missing before any plan can be carried out, empty if nothing is.
	HeldBack string `json:",omitempty"`
	// Backup is the newest verified backup, zero if none is known.
	Backup RecoveryBackup `json:",omitzero"`
	// Restore names the EtcdRestore that carries out RestorePlan, empty if there is none. RestoreFailed is why it has failed.
	Restore, RestorePlan, RestoreFailed string `json:",omitempty"`
}

// RecoveryBackup is a backup that could be restored instead.
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
	// Lost are the voters whose data no longer exists: etcd cannot run on it anywhere. Silent are the others that do not answer.
	Lost, Silent []string
	// Message says what the plan does, what it costs, and how it is confirmed.
	Message string
}

// recovery returns the plan, nil if there is nothing to plan: while any voter follows a leader, or a linearizable read succeeds, there
// may be a quorum that the operator does not see; while a majority of the voters answers, there may soon be one.
//
// Of the voters that answer, the one that has applied most has all that any of them has: entries are applied once they are committed,
// and a committed entry never changes. So the raft term decides nothing. What the others have only in their logs is not known to be
// committed, and no snapshot has it.
func (v *view) recovery() *Recovery {
	known := v.Cluster.Voters
	if v.Cluster.ID == 0 || len(v.Etcd.Unconfirmed) > 0 || len(known) == 0 {
		return nil
	}
	r := &Recovery{}
	var survivors []Answer
	for _, name := range known {
		a, answers := v.answers[name]
		switch {
		case answers && a.Leader != 0:
			return nil
		case answers && v.holdsData(a):
			survivors = append(survivors, a)
		case !answers && v.lostForGood(name):
			r.Lost = append(r.Lost, name)
		default:
			r.Silent = append(r.Silent, name)
		}
	}
	if len(survivors) == 0 || len(survivors) >= Quorum(len(known)) {
		return nil
	}
	slices.SortFunc(survivors, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(b.Applied, a.Applied), cmp.Compare(b.Revision, a.Revision), CompareNames(a.Pod, b.Pod))
	})
	r.Survivor, r.Revision = survivors[0].Pod, survivors[0].Revision
	r.Hash = r.hash(v.Cluster.Record, survivors)
	r.Message = r.message(v.Cluster)
	return r
}

// holdsData reports whether the answer is of a member of the cluster, on its own data, that can be asked for a snapshot.
func (v *view) holdsData(a Answer) bool {
	p, c := v.pods[a.Pod], v.volumes[a.Pod]
	own := !p.Persistent || c.MemberID == a.MemberID && c.ClusterID == a.ClusterID
	corrupt := slices.Contains(a.Alarms, Alarm{Kind: AlarmCorrupt, Member: a.MemberID})
	return own && !corrupt && a.ClusterID == v.Cluster.ID && !a.Learner && p.Permit != nil && !p.Deleting && p.Phase == Running
}

// lostForGood reports whether a voter's data no longer exists, and no etcd can be running on it either.
func (v *view) lostForGood(name string) bool {
	p, there := v.pods[name]
	ended := !there || p.Permit == nil || p.Phase == Finished || p.Exit.DataGone()
	return ended && v.dataGone(name) && !slices.ContainsFunc(v.foreign, func(c Volume) bool { return c.Name == name })
}

// hash is one of everything that a user who confirms the plan relies on. What changes without meaning anything, such as the UID of a
// pod on the same volume, is not part of it.
func (r *Recovery) hash(of Record, survivors []Answer) string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%x\n%q\n%q\n%q\n%q\n", of.ID, of.Voters, of.NextVoters, r.Lost, r.Silent) // a hash takes everything
	for _, a := range survivors {
		_, _ = fmt.Fprintf(sum, "%q %x %d %d\n", a.Pod, a.MemberID, a.Applied, a.Revision)
	}
	const enough = 6
	return hex.EncodeToString(sum.Sum(nil)[:enough])
}

// proven reports whether the API server proves that no quorum can ever form again, and that nobody else can have more than the
// survivor: no voter is merely silent.
func (r *Recovery) proven(c Cluster) bool {
	return len(r.Silent) == 0 && len(c.NextVoters) == 0 && len(c.Voters)-len(r.Lost) < Quorum(len(c.Voters))
}

func (r *Recovery) message(c Cluster) string {
	text := fmt.Sprintf("what %s holds, up to revision %d, can be made the cluster's data; writes that were acknowledged after that "+
		"revision are lost then", r.Survivor, r.Revision)
	if len(r.Silent) > 0 {
		text += fmt.Sprintf(". %s may still have them, and may be serving clients where the operator does not see it: bring back what can "+
			"be brought back, and be sure that the rest is off", list(r.Silent))
	}
	if c.Recovery.HeldBack != "" {
		text += ". Before that, " + c.Recovery.HeldBack
	}
	text += fmt.Sprintf(". To confirm: kubectl -n %s annotate --overwrite etcdclusters.%s %s %s=%s", c.Namespace, v1beta2.GroupVersion.Group, c.Name,
		v1beta2.AnnotationRecover, r.Hash)
	if c.Recovery.Automatic && r.proven(c) && c.Recovery.HeldBack == "" {
		text += fmt.Sprintf(". Without that it is done %s after the quorum was lost (spec.recovery)", c.Recovery.Deadline)
	}
	if b := c.Recovery.Backup; b.Snapshot != "" {
		text += fmt.Sprintf(". The newest verified backup is %s of EtcdBackup %s, revision %d, taken at %s", b.Snapshot, b.EtcdBackup,
			b.Revision, b.Taken.UTC().Format(time.RFC3339))
	}
	return text
}

// recoveryAdvice is for the messages that report a lost quorum.
func (v *view) recoveryAdvice() string {
	if v.Recovery == nil {
		return ""
	}
	return ". If no more members can be brought back, " + v.Recovery.Message
}

// recoveryVoid reports whether the EtcdRestore at hand was to carry out another plan than the present one: the quorum is back, or
// what is observed has changed since the plan was confirmed.
func (v *view) recoveryVoid() bool {
	plan := v.Cluster.RestorePlan
	return plan != "" && (v.Recovery == nil || v.Recovery.Hash != plan)
}
