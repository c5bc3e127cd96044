package etcduser

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
	"github.com/etcdpilot/etcd-operator/internal/access"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// pass is what one reconciliation has read and decided.
type pass struct {
	accounts.Pass

	object *v1beta2.EtcdUser
	// before is the status as it was read.
	before *v1beta2.EtcdUserStatus
	target accounts.Target
	// password is what the user is to log in with, and version where it is from; both are empty without one.
	password string
	version  *v1beta2.SecretVersion
	// same is true if the Secret has changed since the password was set, and this password has not.
	same bool
}

// observe reads everything a decision depends on, and decides.
func (r *Reconciler) observe(ctx context.Context, reader client.Reader, p *pass) (err error) {
	o := &p.Observed
	o.Deleting, o.HasFinalizer = !p.object.DeletionTimestamp.IsZero(), controllerutil.ContainsFinalizer(p.object, v1beta2.FinalizerAccess)
	if p.target, err = accounts.Find(ctx, reader, p.object.Namespace, p.object.Spec.EtcdCluster.Name); err != nil {
		return err
	}
	older, err := older(ctx, reader, p.object)
	if err != nil {
		return err
	}
	o.Problem, o.Untouched = p.target.Problem, p.target.Gone() || older != ""
	if older != "" {
		o.Problem = &failure.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
			"EtcdUser %s is older and is user %s of the same cluster: delete one of the two", older, p.object.NameInEtcd())}
	}
	if o.Problem == nil && !o.Deleting {
		if err := r.observePassword(ctx, p); err != nil {
			return err
		}
		if err := r.observeCertificate(ctx, p); err != nil {
			return err
		}
	}
	if p.Action = access.Next(*o); !o.HasFinalizer || o.Problem != nil || o.Deleting && o.Untouched {
		return nil
	}
	to, err := p.Etcd(ctx, p.target, reader, r.Live)
	if err != nil {
		return err
	}
	protectSelf(p)
	if o.Problem == nil {
		p.Heard(observeUser(ctx, to, p))
	}
	p.Action = access.Next(*o)
	return nil
}

// protectSelf leaves the user alone that the operator is itself: without it the operator is locked out, and can create nobody again.
func protectSelf(p *pass) {
	if p.Self == "" || p.Self != p.object.NameInEtcd() {
		return
	}
	p.Observed.Untouched = true
	p.Observed.Problem = &failure.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
		"user %s of EtcdCluster %s is the operator, by the common name of its certificate, and is not changed: create an EtcdUser of another name",
		p.Self, p.target.Cluster.Name)}
}

// openToAll refuses a password that would keep nobody out: etcd takes all applications that have the cluster's own client certificate for
// the user that it names, whether that has a password or not.
func openToAll(p *pass) *failure.Problem {
	c := p.target.Cluster
	if p.object.NameInEtcd() != certificates.ClientUser || c.Spec.ManagedTLS() == nil {
		return nil
	}
	return &failure.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
		"spec.passwordSecretRef: every application with the certificate in Secret %s is user %s of EtcdCluster %s, without a password: "+
			"create an EtcdUser of another name, or set clientCertificate in place of passwordSecretRef",
		certificates.ClientName(c.Name), certificates.ClientUser, c.Name)}
}

// observePassword reads the Secret. If it cannot be used, a user that is there keeps its password, and none is created. The same password
// in a Secret that was created anew is set again: that is how one is put right that somebody has changed in etcd.
func (r *Reconciler) observePassword(ctx context.Context, p *pass) error {
	ref := p.object.Spec.PasswordSecretRef
	if ref == nil {
		return nil
	}
	if p.Observed.Problem = openToAll(p); p.Observed.Problem != nil {
		return nil
	}
	password, version, problem, err := readPassword(ctx, r.Live, p.object.Namespace, ref)
	if err != nil {
		return err
	}
	p.password, p.version = password, version
	if problem != nil && p.known() && p.before.Login == v1beta2.LoginPassword {
		p.Flaw, p.version = problem, p.before.Password
		return nil
	}
	if p.Observed.Problem = problem; problem == nil && p.known() && p.before.Password != nil {
		key, recorded := client.ObjectKeyFromObject(p.object), idOf(p.before.Password)
		if recorded == idOf(version) {
			r.passwords.Hold(key, recorded, password)
		} else {
			p.same = p.before.Password.UID == version.UID && r.passwords.Held(key, recorded, password)
		}
	}
	return nil
}

// setsPassword reports whether etcd may have another password after an action.
func setsPassword(a access.Action) bool {
	apply, _ := a.(access.Apply)
	return slices.ContainsFunc(apply.Calls, func(c access.Call) bool {
		switch c.(type) {
		case access.AddUser, access.SetPassword:
			return true
		default:
			return false
		}
	})
}

// known reports whether the operator has created the user in this etcd cluster. A restore starts another one, with the passwords of the
// snapshot.
func (p *pass) known() bool {
	return p.before.Login != "" && p.before.ClusterID == p.target.Cluster.Status.ClusterID
}

// observeUser asks etcd what it has, and decides what is to be changed.
func observeUser(ctx context.Context, to *etcd.Accounts, p *pass) error {
	ctx, end := p.Asking(ctx)
	defer end()
	name, o := p.object.NameInEtcd(), &p.Observed
	have, found, err := to.User(ctx, name)
	switch {
	case err != nil:
		return err
	case o.Deleting && found:
		o.Calls = []access.Call{access.DeleteUser{Name: name}}
		return nil
	case o.Deleting:
		return nil
	case !found && p.version != nil && p.password == "":
		o.Problem = p.Flaw
		return nil
	}
	wanted, err := grantable(ctx, to, p, have)
	if err != nil {
		return err
	}
	want := access.Wanted{Password: p.version != nil, Version: idOf(p.version), Roles: wanted}
	var present *access.Present
	if found {
		present = &access.Present{Roles: have}
		if p.known() {
			present.Known, present.Password = true, p.before.Login == v1beta2.LoginPassword
			if present.Version = idOf(p.before.Password); p.same {
				present.Version = want.Version
			}
		}
	}
	o.Calls = access.User(name, present, want)
	return nil
}

// grantable are the wanted roles that exist. What a user has exists, and so does the role root, whether anybody has created it or not.
func grantable(ctx context.Context, to *etcd.Accounts, p *pass, have []string) (roles []string, err error) {
	exist := append(slices.Clone(have), "root")
	unknown := func(role string) bool { return !slices.Contains(exist, role) }
	if slices.ContainsFunc(p.object.Spec.Roles, unknown) {
		all, err := to.Roles(ctx)
		if err != nil {
			return nil, err
		}
		exist = append(exist, all...)
	}
	var missing []string
	for _, role := range p.object.Spec.Roles {
		if unknown(role) {
			missing = append(missing, role)
			continue
		}
		roles = append(roles, role)
	}
	if len(missing) > 0 && p.Flaw == nil {
		p.Flaw = &failure.Problem{Reason: v1beta2.ReasonRoleNotFound, Message: fmt.Sprintf(
			"spec.roles: etcd has no role %s: create an EtcdRole, or correct the name", strings.Join(missing, ", "))}
	}
	return roles, nil
}

// older names the EtcdUser that has the name, empty if it is this one. In the pass that acts the list is live, because a stale one would let
// two of them act on one name. The API server does not select by spec.etcdCluster, which the schema does not declare to be selectable, and an
// index is of the cache only, so all of the namespace are listed.
func older(ctx context.Context, reader client.Reader, own *v1beta2.EtcdUser) (string, error) {
	all := &v1beta2.EtcdUserList{}
	if err := reader.List(ctx, all, client.InNamespace(own.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list EtcdUsers: %w", err)
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.UID != own.UID && other.Spec.EtcdCluster == own.Spec.EtcdCluster && other.NameInEtcd() == own.NameInEtcd() &&
			accounts.Older(other, own) {
			return other.Name, nil
		}
	}
	return "", nil
}
