package plan

import "github.com/etcdpilot/etcd-operator/internal/member"

// Exit is why etcd does not run in a pod that may start it.
type Exit string

// Exits: the reasons of member-run's refusals, and what etcd itself ends of.
const (
	ExitNone Exit = ""
	// ExitDataLost means that this one member has no write-ahead log, and no unused permit to start without one.
	ExitDataLost Exit = member.DataLost
	// ExitForeignData means that the directory holds the data of another member or cluster.
	ExitForeignData Exit = member.ForeignData
	// ExitUnreadable means that the data could not be read this time, ExitBadConfig that etcd cannot be run as asked.
	// Neither says that the data is gone.
	ExitUnreadable Exit = member.Unreadable
	ExitBadConfig  Exit = member.BadConfig
	// ExitCorrupt means that etcd itself ends again and again and says that its data is damaged.
	ExitCorrupt Exit = "Corrupt"
)

// ExitOf is what a refusal of member-run means to a decision. A reason that is not known, of another version's member-run,
// is none: no member is given up for it.
func ExitOf(r member.Refusal) Exit {
	switch r.Reason {
	case member.DataLost, member.ForeignData, member.Unreadable, member.BadConfig:
		return Exit(r.Reason)
	}
	return ExitNone
}

// DataGone tells whether the member can never start again from what is in its directory.
func (e Exit) DataGone() bool { return e == ExitDataLost || e == ExitForeignData }
