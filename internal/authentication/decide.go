package authentication

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// RootUser is etcd's user that may do everything, and the common name of the operator's client certificate.
const RootUser = "root"

// Random is the origin of a password that nobody knows.
const Random = "random"

// Wanted is what the spec asks for.
type Wanted string

// What a spec can ask for. Unmanaged is one that says nothing.
const (
	Unmanaged Wanted = ""
	On        Wanted = "On"
	Off       Wanted = "Off"
)

// Observed is everything that a decision depends on.
type Observed struct {
	Wanted Wanted
	// Known is true if etcd has said whether its authentication is on, and Enabled what it has said.
	Known, Enabled bool
	// Denied is what etcd says to the operator if it does not take it for root, empty otherwise.
	Denied string
	// TLS is true if clients connect with certificates, and none can without. Switching is true if that is about to be so.
	TLS, Switching bool
	// Certified is true if all members serve certificates that can be used, and none is being replaced.
	Certified bool
	// OperatorName is the common name of the operator's client certificate.
	OperatorName string
	// Quorum is true if a quorum answers and the cluster is not being started, restored or changed in this pass. Whole is true if
	// every voter answers, too.
	Quorum, Whole bool
	// ClusterID is etcd's, in hexadecimal.
	ClusterID string
	// Password is where root's is to come from: the version of a Secret, or Random. It is empty if there is a PasswordProblem.
	Password        string
	PasswordProblem *failure.Problem
	// Secret is that password, none if it was not read for this decision. It is in no Decision, which is shown.
	Secret Password
	// Root is what was recorded of the user root, zero if nothing was.
	Root Root
}

// Root is what was done about the user root.
type Root struct {
	// ClusterID is of which cluster it is: after a restore the users are those of the snapshot.
	ClusterID string
	// Password is where its password came from.
	Password string
}

// Step is a change of etcd's authentication.
type Step string

// The steps. Each can be repeated.
const (
	NoStep Step = ""
	// Enable makes the user root, with the role root and the password, and switches authentication on.
	Enable Step = "Enable"
	// ChangePassword gives root the password.
	ChangePassword Step = "ChangePassword"
	// Disable switches authentication off. Users and roles stay.
	Disable Step = "Disable"
)

// Decision is what to do, and what the user is to know.
type Decision struct {
	// Step is the change to make now.
	Step Step
	// Doing says what is being done or waited for, empty if etcd is as the spec asks, or if there is a Problem.
	Doing string
	// Problem is why etcd cannot be as the spec asks, nil if it can.
	Problem *failure.Problem
	// Unread is true if there is no step only because root's password was not read: read it, and decide again.
	Unread bool
	// Record is what is to be recorded of the user root once the step has been taken.
	Record Root
}

// Decide returns what to do now. No step that gives root a password is taken without it.
func Decide(o Observed) Decision {
	d := o.next()
	d.Record = o.Root
	switch {
	case d.Step == NoStep:
	case !o.Quorum:
		d.Step, d.Doing = NoStep, "waiting until the cluster is steady, before "+d.Doing
	case d.Step != Disable && o.Secret == Password{}:
		d.Step, d.Unread = NoStep, true
	case d.Step == Disable: // whatever becomes of root now, it is not known here
		d.Record = Root{}
	default:
		d.Record = Root{ClusterID: o.ClusterID, Password: o.Password}
	}
	return d
}

func (o Observed) next() Decision {
	switch {
	case o.Wanted == Unmanaged:
		return Decision{}
	case o.Denied != "":
		return refuse(v1beta2.ReasonOperatorNotRoot, "etcd's authentication is on, and etcd does not take the operator for its user root: %s; "+
			"have an administrator of etcd run: etcdctl user grant-role root root", o.Denied)
	case !o.Known && o.Quorum:
		return Decision{Doing: "waiting until etcd says whether its authentication is on"}
	case !o.Known:
		return Decision{}
	case o.Wanted == Off && o.Enabled:
		return Decision{Step: Disable, Doing: "switching authentication off"}
	case o.Wanted == Off:
		return Decision{}
	case !o.TLS && o.Switching:
		return Decision{Doing: "waiting until clients are served with TLS only, before switching authentication on"}
	case !o.TLS:
		return refuse(v1beta2.ReasonAuthNeedsTLS, "spec.auth.enabled is true, but clients connect without TLS, by which etcd would know who they are")
	case o.OperatorName != RootUser:
		return refuse(v1beta2.ReasonOperatorNotRoot, "the certificate in spec.tls.static.operatorSecret has the common name %q, and etcd takes that "+
			"for the user: issue one with the common name root", o.OperatorName)
	case o.PasswordProblem != nil:
		return Decision{Problem: o.PasswordProblem}
	case !o.Enabled && !o.Whole:
		return Decision{Doing: "waiting until every voter answers, before switching authentication on"}
	case !o.Enabled && !o.Certified:
		return Decision{Doing: "waiting until all certificates can be used, and none is being replaced, before switching authentication on"}
	case !o.Enabled:
		return Decision{Step: Enable, Doing: "switching authentication on"}
	case o.Root != Root{ClusterID: o.ClusterID, Password: o.Password}:
		return Decision{Step: ChangePassword, Doing: "changing root's password"}
	}
	return Decision{}
}

func refuse(reason, format string, arguments ...any) Decision {
	return Decision{Problem: &failure.Problem{Reason: reason, Message: fmt.Sprintf(format, arguments...)}}
}
