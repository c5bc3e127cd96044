package certificates

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Observed is everything that a decision depends on. The Secrets' data must be read live, and before the pods: a pod that is created
// in between counts, a leaf that is published in between was allowed by who published it.
type Observed struct {
	Now   time.Time
	Names Names
	// Members are the names that need leaves: the members that etcd lists, the pods, and those that are about to be created.
	Members []string
	// Transport says which sides there are: those that members serve with TLS, and those that the spec asks for.
	Transport member.Transport
	// Coming are those of them that no member serves yet: what is wrong with them keeps no pod waiting. Leaving are those that the spec
	// does not ask for any more: they go on as they were until no member serves them.
	Coming, Leaving member.Transport
	// Managed or Static is the source as spec.tls describes it. Without either, the members keep what they have, and that is a
	// Problem.
	Managed *Managed
	Static  *Static
	// OperatorIsRoot is true while etcd's authentication is on: a source by which the operator would be another user is of no use.
	// AuthOff is true if it is certainly off: etcd has said so for this decision (see Decision.AskAuth), or there is no etcd yet. While
	// both are false, an operator that is root stays root.
	OperatorIsRoot, AuthOff bool
	// AuthWanted is true if the spec asks for etcd's authentication.
	AuthWanted bool
	// Authority is the data of the Secret of AuthorityName, nil if it does not exist.
	Authority map[string][]byte
	// Authorities are the fingerprints of the cluster's own authorities, as status records them: Decision.Authorities.
	Authorities []string
	// Roots are the fingerprints of the authorities by which clients accept members, as status records them: Decision.Roots.
	Roots []string
	// Made are the Authorities of the previous Decision, nil in a new process: they are the cluster's own, whether status records them
	// or could not be written.
	Made []string
	// Published is the data of the Secrets of MemberName, by member.
	Published map[string]map[string][]byte
	// Client and Agent are the data of the Secrets of ClientName and AgentName, nil if they do not exist.
	Client, Agent map[string][]byte
	// Users are the users of etcd that get a certificate, sorted by Secret; in mode managed only, or while that is left.
	Users []User
	// Refreshed is when the Secret of ClientName, and UsersRefreshed when one of a user, was last changed so that applications have to read
	// it: see Write.Refresh. Each is zero if none was.
	Refreshed, UsersRefreshed time.Time
	// Endpoints is for applications: the URLs of the cluster, separated by commas.
	Endpoints string
	// Pods are all pods of members that exist, running or not.
	Pods []Pod
	// Trust is the data of the Secret that status.tls.trust names, nil if none. It is what the last Decision was carried out with, so
	// a pod that was just created may have it, although it is not among the Pods yet.
	Trust map[string][]byte
	// Altered are those trust Secrets, and those of Pods, that CheckTrust refuses: they count as absent here.
	Altered []Altered
	// Served is what the members answered, by name; nil if they have not been asked (see Decision.AskServed).
	Served map[string]Served
	// Operator is the Identity of the previous Decision, nil in a new process.
	Operator *Identity
	// Rotate is the value of v1beta2.AnnotationRotate of the EtcdCluster, and Rotated that of the Secret of AuthorityName.
	Rotate, Rotated string
	// patientUntil is until when users' Secrets are waited for before members present another authority's certificates, zero without an
	// authority, and handedUntil before members stop trusting a former one, zero before any client has one of the next: look finds that out.
	patientUntil, handedUntil time.Time
	// refreshedUntil is until when Refreshed counts, whatever it says; zero without an authority. look finds that out, too.
	refreshedUntil time.Time
	// ending is whether the former authority is about to expire, which look finds out, too: applications without a Secret are not waited for then.
	ending bool
}

// Altered is a trust Secret that is not as the operator has written it.
type Altered struct {
	// Secret is its name, and Why what CheckTrust says of it.
	Secret, Why string
}

// User is one of etcd's that logs in with a certificate.
type User struct {
	// Name is its name in etcd, and the certificate's common name.
	Name string
	// Secret is where it is put, and Data what that holds, nil if it does not exist.
	Secret string
	Data   map[string][]byte
	// New is true for ReadTime after the EtcdUser was created: nobody can have read an earlier Secret of it.
	New bool
	// Refused is why that cannot be written, in words; empty if it can, or was not tried.
	Refused string
	// Going is true while that is being deleted: it is created again once its finalizers have gone, and deleting it does not help.
	Going bool
}

// Names is how the cluster is called.
type Names struct {
	Cluster, Namespace string
	// Domain is what the cluster's DNS appends, for example ".cluster.local"; usually empty.
	Domain string
}

// Managed is the mode in which the operator issues all certificates itself.
type Managed struct {
	// LeafDuration and CADuration are how long leaves and authorities are valid; zero stands for DefaultLeafDuration and
	// DefaultCADuration.
	LeafDuration, CADuration time.Duration
	// ExtraServerNames are DNS names and IP addresses that clients use besides the cluster's own.
	ExtraServerNames []string
	// Issued is what cert-manager has issued, nil if the operator makes the authorities itself.
	Issued *Issued
}

// ReadTime is how long kubelets have to update a Secret where it is mounted: they look every minute, and some later.
const ReadTime = 2 * time.Minute

// reading reports whether applications may not have read their Secrets yet since these changed. A Secret that holds no certificate was perhaps
// deleted, and applications go on with what it held. The Secret of ClientName is the cluster's own: if it is missing, it is waited for until the
// former authority is about to expire, and its changes count until ClientPatience is over; those of users until Patience is.
func (o Observed) reading() bool {
	if o.Managed == nil {
		return o.beingRead(o.Refreshed) || o.beingRead(o.UsersRefreshed)
	}
	waits := o.patient() || o.Now.Before(o.handedUntil)
	client := waits || !o.ending && o.Now.Before(o.refreshedUntil)
	return o.beingRead(o.Refreshed) && client || o.beingRead(o.UsersRefreshed) && waits || !o.ending && o.lacksSecret()
}

// beingRead reports whether applications may still be reading what was written at a time. Another process, whose clock is a little ahead, may have
// noted that.
func (o Observed) beingRead(written time.Time) bool {
	since := o.Now.Sub(written)
	return -ReadTime < since && since < ReadTime
}

// lacksSecret reports whether a Secret that applications may have read holds no certificate.
func (o Observed) lacksSecret() bool {
	return issuer(o.Client[KeyCertificate]) == "" ||
		slices.ContainsFunc(o.reached(), func(u User) bool { return !u.New && issuer(u.Data[KeyCertificate]) == "" })
}

// How long certificates are valid unless the spec says otherwise.
const (
	DefaultLeafDuration = 90 * 24 * time.Hour
	DefaultCADuration   = 5 * 365 * 24 * time.Hour
)

// Static is the mode in which users maintain the Secrets, in the layout of coreos/etcd-operator.
type Static struct {
	// Field is how messages call it: spec.tls.static, or spec.TLS.static.
	Field string
	// Peer holds peer.crt, peer.key and peer-ca.crt, Server server.crt, server.key and server-ca.crt, Operator etcd-client.crt,
	// etcd-client.key and etcd-client-ca.crt.
	Peer, Server, Operator Source
}

// Source is a Secret that the user maintains.
type Source struct {
	// Name is empty if the spec names none.
	Name string
	// Data is nil if the Secret does not exist.
	Data map[string][]byte
}

// Pod is a member's pod.
type Pod struct {
	// Name is the member's.
	Name string
	// Trust is the data of the trust Secret that it names, nil if that does not exist: then it cannot start.
	Trust map[string][]byte
}

// Served is what a member presented when it was asked: the fingerprint of its leaf on each side, as pki.Fingerprint writes it; empty
// if it did not answer.
type Served struct {
	Peer, Client string
}

// Identity is what the operator connects with.
type Identity struct {
	// Certificate, Key and Roots are PEM. The operator accepts members whose leaves Roots verify.
	Certificate, Key, Roots []byte
}
