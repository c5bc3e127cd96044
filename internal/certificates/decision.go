package certificates

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Decision is what is to be done, and what the user is to know.
type Decision struct {
	// Trust is the data of the trust Secret for new pods, nil if there is none yet, or after Forget. Its hash has to be in status before a
	// pod is created with it: see Observed.Trust.
	Trust map[string][]byte
	// TrustHash belongs into the name of that Secret (see TrustName), empty if Trust is nil.
	TrustHash string
	// Trusting are the pods that trust the same already on each side that they have, though by another Secret: that of a side that they
	// have not yet, or not any more, does not concern them.
	Trusting []string
	// Writes are those Secrets that differ, in the order in which they have to be written. If one cannot be, the rest must wait.
	Writes []Write
	// Applications are the names of the Secrets by which applications know where to connect: each is to have Observed.Endpoints, whether it
	// is among Writes or cannot be written now.
	Applications []string
	// Authorities are the fingerprints of the cluster's own authorities that status is to record: those of them that the Secret of
	// AuthorityName holds once it is written. While one of them is not recorded, Trust is nil: after a restart there may be others.
	Authorities []string
	// Roots are the fingerprints of the authorities by which clients accept members, which status is to record, too.
	Roots []string
	// Recording is whether leaves wait until status records these.
	Recording bool
	// Waiting are the members that no leaf can be given to yet: their pods cannot start, and creating them is of no use.
	Waiting []string
	// Operator is the operator's own certificate, nil if clients use no TLS or there is none yet. It is not stored: keep it for
	// the next Observed.
	Operator *Identity
	// held is what takes its place in Hold if the operator has not had any before.
	held *Identity
	// Problem is why the source cannot be used, and what was published stays as it is; or which Secrets of users cannot be written. It is
	// nil if nothing is wrong.
	Problem *failure.Problem
	// Blocking is that of it without whose end no certificate can be given, nil if all that are needed can be: the cluster's own authorities
	// do without their issuer, and without a Secret of a user. While it is there, nothing that takes new certificates is begun.
	Blocking *failure.Problem
	// Expired are the pods all of whose authorities on one side have expired: nobody can connect to their members, or they to nobody, and
	// only another pod can trust others.
	Expired []string
	// Warnings are what works now but is likely to fail some day, for events.
	Warnings []string
	// AskServed is whether the members are to be asked what they serve: with it, the next Decision may go on.
	AskServed bool
	// AskAuth is whether etcd is to be asked if its authentication is on: with that, the next Decision may take the source.
	AskAuth bool
	// Settled is whether there is nothing to do and nothing to wait for.
	Settled bool
	// Certified is whether the members, the operator and who uses the cluster's own Secrets have certificates that can be used, and none of
	// these is being replaced. Users' Secrets, and an issuer of authorities that are there, do not count.
	Certified bool
	// Step is what is being done and waited for, in words for status; empty when settled.
	Step string
	// Next is when something is due, zero if nothing ever is.
	Next time.Time
	// Certificates are all that are in use, sorted.
	Certificates []Info
	// Rotated is what the annotation RotatedAnnotation of the Secret of AuthorityName is to be. Where it differs from what was
	// observed, Writes has that Secret: both have to be one write.
	Rotated string
}

// Block keeps everything that takes certificates from being begun until a problem is mended.
func (d *Decision) Block(p failure.Problem) {
	d.Problem, d.Blocking, d.Settled, d.Certified = &p, &p, false, false
}

// Kind says which Secret a Write is for.
type Kind string

// The kinds: the Secrets of AuthorityName, MemberName, ClientName and AgentName.
const (
	KindAuthority Kind = "Authority"
	KindMember    Kind = "Member"
	KindClient    Kind = "Client"
	KindAgent     Kind = "Agent"
	// KindUser is the Secret of a User.
	KindUser Kind = "User"
)

// Write is a Secret that is to be created or to be made the same as this.
type Write struct {
	Kind Kind
	// Member is the member's name for KindMember, the Secret's for KindUser, and empty for the others.
	Member string
	// Data is the whole data: keys that are not in it have to go.
	Data map[string][]byte
	// Refresh is whether applications have to read the Secret before their former authority is given up: it names others to trust, or
	// its certificate is another one's. It is to be noted with the Secret when that was: Observed.Refreshed.
	Refresh bool
}

// Info describes a certificate for status and metrics.
type Info struct {
	// Name is that of the Secret that holds it.
	Name string
	// Use is the key that it is stored under, without ".crt".
	Use string
	// Issuer is the issuer's distinguished name, cut as pki.Issuer does.
	Issuer              string
	NotBefore, NotAfter time.Time
	// RenewAt is when the operator renews it, zero if it does not.
	RenewAt time.Time
	// Certificate is that of cert-manager's which it is a copy of, and which cert-manager renews; empty if it is of none.
	Certificate string
	// User is true if it is an EtcdUser's: there may be any number of these.
	User bool
}
