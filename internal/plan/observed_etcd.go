package plan

// Contact says how much of etcd answered.
type Contact int

// Contacts. ContactQuorum means that a linearizable read succeeded.
const (
	ContactNone Contact = iota
	ContactMinority
	ContactQuorum
)

// Etcd is what the servers said in this observation.
type Etcd struct {
	Contact Contact
	// Members is the linearizable member list that a majority of the voters confirms; empty unless Contact is
	// ContactQuorum.
	Members []Member
	// Confirmed are the pods whose reads confirm it, Unconfirmed those that read something that no majority confirms.
	Confirmed, Unconfirmed []string
	// Answers are the Status replies, one a pod that answered. Those of pods that are neither voters nor listed are left
	// out: anybody can have a pod that answers.
	Answers []Answer
	// Disks are the disks of the members that were asked for them: none as long as nothing is slow.
	Disks []Disk
	// ClusterID is the one that the linearizable read carried, 0 unless Contact is ContactQuorum.
	ClusterID uint64 `json:",string"`
	// Revision is the highest that a majority of the voters has read linearizably, and Newest the lowest that a majority
	// has read no more than: no single voter can raise the one or lower the other. Both are 0 unless Contact is
	// ContactQuorum.
	Revision, RevisionCeiling int64
}

// Member is an entry of etcd's member list.
type Member struct {
	ID uint64 `json:",string"`
	// Name is taken from the peer URL's host, so that a member that never started has one too. PeerURL is the first one.
	Name    string
	PeerURL string
	// Published is true once the member has announced its client URLs: it has started at least once.
	Published bool
	Learner   bool
}

// Answer is a server's Status reply.
type Answer struct {
	// Pod and PodUID are the pod that answered.
	Pod, PodUID string
	MemberID    uint64 `json:",string"`
	ClusterID   uint64 `json:",string"`
	// Leader is the member ID of the leader it follows, 0 if it knows none.
	Leader  uint64 `json:",string"`
	Learner bool
	// Version is the server's version, for example "3.6.16".
	Version string
	// Storage is the minor version whose schema the data has, such as "3.6"; empty from etcd 3.5. It follows the
	// cluster's version, which etcd raises a few seconds after the last member runs the newer one.
	Storage string
	// Downgrade is the minor version that etcd was told to go down to, empty if none.
	Downgrade string
	// Revision is member-local: it lags legitimately.
	Revision int64
	// Applied and Committed are raft indexes.
	Applied   uint64 `json:",string"`
	Committed uint64 `json:",string"`
	// DBSize and DBSizeInUse are bytes.
	DBSize      int64
	DBSizeInUse int64
	// Errors are faults that the server reports of itself, in etcd's words, such as "etcdserver: no leader".
	Errors []string
	// Alarms are those of all members, as far as this one knows: each server tells the whole cluster's.
	Alarms []Alarm
}

// AlarmKind is what an alarm says.
type AlarmKind string

// Kinds of alarms, as etcd's API has them.
const (
	// AlarmNoSpace means that a member's database has reached its quota: etcd takes no writes but those that free space.
	AlarmNoSpace AlarmKind = "NOSPACE"
	// AlarmCorrupt means that the members' data differ: etcd refuses every request for keys.
	AlarmCorrupt AlarmKind = "CORRUPT"
)

// Alarm is one that etcd has raised. It stays until somebody disarms it.
type Alarm struct {
	Kind AlarmKind
	// Member is the ID of the member that it is about; 0 where etcd could not tell whose data is the wrong one.
	Member uint64 `json:",string"`
}
