package etcdrole

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
	"github.com/etcdpilot/etcd-operator/internal/access"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// pass is what one reconciliation has read and decided.
type pass struct {
	accounts.Pass

	object *v1beta2.EtcdRole
	// before is the status as it was read.
	before *v1beta2.EtcdRoleStatus
	target accounts.Target
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
			"EtcdRole %s is older and is role %s of the same cluster: delete one of the two", older, p.object.NameInEtcd())}
	}
	if p.Action = access.Next(*o); !asksEtcd(p) {
		return nil
	}
	etcd, err := p.Etcd(ctx, p.target, reader, r.Live)
	if err != nil {
		return err
	}
	if o.Problem == nil {
		asking, end := p.Asking(ctx)
		defer end()
		have, found, err := etcd.Role(asking, p.object.NameInEtcd())
		p.Heard(err)
		o.Calls = callsFor(p, have, found)
	}
	p.Action = access.Next(*o)
	return nil
}

// asksEtcd reports whether the decision depends on what etcd has.
func asksEtcd(p *pass) bool {
	o := p.Observed
	return o.HasFinalizer && o.Problem == nil && !(o.Deleting && o.Untouched)
}

func callsFor(p *pass, have []access.Permission, found bool) []access.Call {
	name := p.object.NameInEtcd()
	switch {
	case p.Observed.Deleting && found:
		return []access.Call{access.DeleteRole{Name: name}}
	case p.Observed.Deleting:
		return nil
	}
	var want []access.Permission
	for _, given := range p.object.Spec.Permissions {
		want = append(want, access.Permission{Range: rangeOf(given), Rights: rightsOf(given.Type)})
	}
	return access.Role(name, found, have, want)
}

func rangeOf(p v1beta2.Permission) access.Range {
	if p.Prefix != nil {
		return access.Prefix(*p.Prefix)
	}
	return access.Range{Key: p.Key, RangeEnd: p.RangeEnd}
}

func rightsOf(t v1beta2.PermissionType) access.Rights {
	switch t {
	case v1beta2.PermissionRead:
		return access.Read
	case v1beta2.PermissionWrite:
		return access.Write
	case v1beta2.PermissionReadWrite:
	}
	return access.Read | access.Write
}

// older names the EtcdRole that has the name, empty if it is this one. In the pass that acts the list is live, because a stale one would let
// two of them act on one name. The API server does not select by spec.etcdCluster, which the schema does not declare to be selectable, and an
// index is of the cache only, so all of the namespace are listed.
func older(ctx context.Context, reader client.Reader, own *v1beta2.EtcdRole) (string, error) {
	all := &v1beta2.EtcdRoleList{}
	if err := reader.List(ctx, all, client.InNamespace(own.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list EtcdRoles: %w", err)
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
