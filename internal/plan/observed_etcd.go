package plan

import (
	"slices"
	"time"
)

// Contact is how much of the cluster has answered.
type Contact int

// The contacts. ContactQuorum means that a linearizable read succeeded.
const (
	ContactNone Contact = iota
	ContactMinority
	ContactQuorum
)

const (
	// HistoryKept is how old history has to be to be given up, which is kube-apiserver's habit, too (--etcd-compaction-interval).
	HistoryKept = 5 * time.Minute
	// historyKept is the same for messages, which have it in words.
	historyKept = "five minutes"
)

// Etcd is what the servers have reported in this observation.
type Etcd struct {
	Contact Contact
	// Members is the linearizable member list that a majority of the voters confirms; empty unless Contact is ContactQuorum.
	Members []Member
	// Confirmed are the pods whose reads confirm the member list, Unconfirmed those with a read that no majority confirms.
	Confirmed, Unconfirmed []string
	// Answers are the Status replies, one for each pod that has answered, except pods that are neither voters nor listed: anyone
	// can create a pod that answers.
	Answers []Answer
	// Others are the Status replies of pods that are neither voters nor listed, while there is no quorum: what they say proves nothing, but
	// one of them may have become a member since the voters were recorded. Empty if Contact is ContactQuorum.
	Others []Answer `json:",omitempty"`
	// Mute are the voters whose servers take connections and do not answer in time, sorted: they may serve others.
	Mute []string `json:",omitempty"`
	// Handshakes are the pods whose servers and the operator do not accept each other's certificates, sorted by pod: they may serve
	// others. Pods that are neither voters nor listed are left out, as among the Answers.
	Handshakes []HandshakeFailure `json:",omitempty"`
	// Disks are measurements of the members' disks: none are taken while nothing is slow.
	Disks []Disk
	// Reached names the members that every other one has connected to at their PeerURL. It is looked at only while members serve peers
	// with and without TLS.
	Reached []string `json:",omitempty"`
	// Databases are what is known of the members' databases: see Database.
	Databases []Database `json:",omitempty"`
	// PastRevision is the latest revision known that the cluster had reached HistoryKept ago, 0 if none is. DefragmentRate is how many bytes
	// in use the last member that was defragmented has written anew in a second, 0 if none was with enough of them to tell.
	PastRevision, DefragmentRate int64 `json:",omitempty"`
	// Compared are the last comparisons of the voters' data, two at most and at different compactions, the earlier one first. None means
	// that nothing is known. They are of the voters at that time.
	Compared []Comparison `json:",omitempty"`
	// Histories are those of the voters' disks; none of one that has not been sampled.
	Histories []DiskHistory `json:",omitempty"`
	// Usages are what the voters have used of CPU and memory; none of one that has not been sampled.
	Usages []Usage `json:",omitempty"`
	// RoomMade is how often within the last hour this process has disarmed the alarm NOSPACE.
	RoomMade int `json:",omitempty"`
	// ClusterID is that of the linearizable read, 0 unless Contact is ContactQuorum.
	ClusterID uint64 `json:",string"`
	// Revision is the highest revision that a majority of the voters has reached in linearizable reads, and RevisionCeiling the
	// lowest that a majority has not exceeded: no single voter can raise the former or lower the latter. Both are 0 unless
	// Contact is ContactQuorum.
	Revision, RevisionCeiling int64
}

// FarBehind returns the UIDs of the pods whose members have not applied what a majority of the voters knew to be committed LagLimit
// entries ago. Those that do not vote yet are not among them.
func (e Etcd) FarBehind() (uids []string) {
	var answers []Answer
	var known []uint64
	voters := 0
	for _, m := range e.Members {
		if m.Learner {
			continue
		}
		voters++
		i := slices.IndexFunc(e.Answers, func(a Answer) bool { return a.Pod == m.Name && a.MemberID == m.ID && a.ClusterID == e.ClusterID })
		if i >= 0 {
			answers, known = append(answers, e.Answers[i]), append(known, e.Answers[i].Committed)
		}
	}
	newest := Reached(voters, known)
	for _, a := range answers {
		if a.Applied+LagLimit < newest {
			uids = append(uids, a.PodUID)
		}
	}
	return uids
}

// Comparison is what the voters' data hashed to when etcd compacted it at one revision: all keys with their values up to there.
type Comparison struct {
	Revision int64
	// Hashes are those of all voters, by member ID.
	Hashes []MemberHash
}

// MemberHash is a member's hash.
type MemberHash struct {
	Member uint64 `json:",string"`
	// Hash is 32 bits.
	Hash int64
}

// Differs reports whether not all voters have the same data.
func (c Comparison) Differs() bool {
	return slices.ContainsFunc(c.Hashes, func(h MemberHash) bool { return h.Hash != c.Hashes[0].Hash })
}

// HandshakeFailure is a server that takes connections, and whose TLS handshake with the operator fails.
type HandshakeFailure struct {
	Pod string
	// Message is why, by the side that refuses: at most 300 bytes, printable. It may quote the server's certificate, which anyone can read.
	Message string
}

// Member is an entry of etcd's member list.
type Member struct {
	ID uint64 `json:",string"`
	// Name is taken from the host of the peer URL, because a member that never started has no name of its own. PeerURL is the
	// first one.
	Name    string
	PeerURL string
	// Published is true once the member has published its client URLs: it has started at least once.
	Published bool
	Learner   bool
}

// Answer is a server's Status reply.
type Answer struct {
	// Pod and PodUID identify the pod that has answered.
	Pod, PodUID string
	MemberID    uint64 `json:",string"`
	ClusterID   uint64 `json:",string"`
	// Leader is the member ID of the leader that it follows, 0 if it knows none.
	Leader  uint64 `json:",string"`
	Learner bool
	// Version is what the server calls its version, for example "3.6.16"; empty if that is none that a spec can ask for. What it runs is Observed.Runs.
	Version string
	// Storage is the storage version, the minor version whose schema the data has, such as "3.6"; etcd 3.5 reports none. It
	// follows the cluster version, which etcd raises a few seconds after the last member runs the newer one.
	Storage string
	// Downgrade is the minor version for which etcd's downgrade is enabled, as far as this server says, empty if it is not. etcd 3.5 does not tell.
	Downgrade string
	// Revision is that of the member, which may lag behind.
	Revision int64
	// Applied and Committed are raft indexes.
	Applied   uint64 `json:",string"`
	Committed uint64 `json:",string"`
	// Behind is how long it has been far behind whenever it was looked at, 0 if it is not: see FarBehind.
	Behind time.Duration `json:",omitempty"`
	// DBSize, DBSizeInUse and Quota are bytes. Quota is the size of the database from which on the server takes no writes, 0 if it does
	// not tell: etcd does from 3.6 on.
	DBSize      int64
	DBSizeInUse int64
	Quota       int64 `json:",omitempty"`
	// Errors are what the server reports as its own faults, such as "etcdserver: no leader".
	Errors []string
	// Alarms are those of all members as far as this one knows: every server reports the whole cluster's.
	Alarms []Alarm
}

// AlarmKind is the type of an alarm.
type AlarmKind string

// The types of alarms, as in etcd's API.
const (
	// AlarmNoSpace means that a member's database has reached its quota: etcd accepts only requests that free space.
	AlarmNoSpace AlarmKind = "NOSPACE"
	// AlarmCorrupt means that the members' data differs: etcd refuses every write, and serves reads, which may be wrong.
	AlarmCorrupt AlarmKind = "CORRUPT"
)

// Alarm is an alarm that etcd has raised. It stays until a user disarms it.
type Alarm struct {
	Kind AlarmKind
	// Member is the ID of the member that it is about, 0 if etcd could not tell whose data is wrong.
	Member uint64 `json:",string"`
}
