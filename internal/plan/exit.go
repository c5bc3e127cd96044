package plan

import "github.com/etcdpilot/etcd-operator/internal/member"

// Exit is why etcd does not run in a pod that is permitted to start it.
type Exit string

// The exits: the reasons of member-run's refusals, and of etcd's own exits.
const (
	ExitNone Exit = ""
	// ExitDataLost means that there is no write-ahead log, and no unused permit to start without one.
	ExitDataLost Exit = member.DataLost
	// ExitForeignData means that the directory holds the data of another member or cluster.
	ExitForeignData Exit = member.ForeignData
	// ExitUnreadable means that the data could not be read this time, or that etcd found the file system read-only, ExitBadConfig that etcd cannot run with that
	// configuration. Neither means that the data is lost.
	ExitUnreadable Exit = member.Unreadable
	ExitBadConfig  Exit = member.BadConfig
	// ExitBadCertificates means that etcd cannot run with the mounted certificates. They are mended in place, by publishing others, and
	// the kubelet then starts the container again: neither the pod nor the member is given up for it.
	ExitBadCertificates Exit = member.BadCertificates
	// ExitCorrupt means that etcd is crash-looping and reports that its data is damaged.
	ExitCorrupt Exit = "Corrupt"
)

// ExitOf returns what a refusal of member-run means for decisions. An unknown reason, from another version of member-run, means
// nothing: no member is given up for it.
func ExitOf(r member.Refusal) Exit {
	switch r.Reason {
	case member.DataLost, member.ForeignData, member.Unreadable, member.BadConfig, member.BadCertificates:
		return Exit(r.Reason)
	}
	return ExitNone
}

// misconfigured reports whether the pod waits for the operator to mend what it was given: etcd has not run, and the data, or that there is
// none, is as it was.
func (e Exit) misconfigured() bool { return e == ExitBadConfig || e == ExitBadCertificates }

// DataGone reports whether the member can never start again from what is in its directory.
func (e Exit) DataGone() bool { return e == ExitDataLost || e == ExitForeignData }
