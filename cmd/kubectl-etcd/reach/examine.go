package reach

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
)

const (
	// AskTimeout bounds all questions to the members together, but those for hashes: they are asked at once.
	AskTimeout = 5 * time.Second
	// hashTimeout is for members that read their whole database.
	hashTimeout = 10 * time.Minute
)

// Examine gathers the facts about a cluster; hashes asks the members to read all of their data. The error is for a person.
func (a *Access) Examine(ctx context.Context, name string, hashes bool) (*doctor.Facts, error) {
	seen, err := a.Cluster(ctx, name)
	if err != nil {
		return nil, err
	}
	f := &doctor.Facts{Cluster: seen.Object, Pods: seen.Pods, Backups: seen.Backups, Unread: map[doctor.Source]string{}}
	note(f, doctor.Pods, seen.PodsUnlisted)
	if seen.Backups == nil { // to hear once more why they cannot be listed
		note(f, doctor.Backups, a.client.List(ctx, &v1beta2.EtcdBackupList{}, client.InNamespace(a.namespace)))
	}
	f.Rights, err = a.rights(ctx, seen.Object)
	note(f, doctor.Rights, err)
	budgets, volumes := &policyv1.PodDisruptionBudgetList{}, &corev1.PersistentVolumeClaimList{}
	note(f, doctor.Budgets, a.client.List(ctx, budgets, client.InNamespace(a.namespace)))
	note(f, doctor.Volumes, a.client.List(ctx, volumes, client.InNamespace(a.namespace)))
	f.Budgets, f.Volumes = budgets.Items, volumes.Items

	var together sync.WaitGroup
	var unleased error
	together.Go(func() { f.Lease, unleased = a.lease(ctx, seen.Object.Status.Operator) })
	asking, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	answers, problem := a.Ask(asking, seen)
	together.Wait()
	note(f, doctor.Leases, unleased)
	f.Answers = answers
	if seen.PodsUnlisted != nil {
		problem = seen.PodsUnlisted
	}
	note(f, doctor.Members, problem)
	if hashes {
		f.Hashes, err = a.hashes(ctx, seen, answers)
		note(f, doctor.Hashes, err)
	}
	f.Now = time.Now()
	return f, ctx.Err()
}

func note(f *doctor.Facts, source doctor.Source, err error) {
	if err != nil {
		f.Unread[source] = err.Error()
	}
}

// need is a right, and what it is for.
type need struct {
	authorizationv1.ResourceAttributes
	what string
}

// needs are the rights that this program needs to judge a cluster.
func (a *Access) needs(c *v1beta2.EtcdCluster) []need {
	type attributes = authorizationv1.ResourceAttributes
	const ours = "etcd.database.coreos.com"
	all := []need{
		{attributes{Verb: "list", Resource: "pods"}, "the members"},
		{attributes{Verb: "create", Resource: "pods", Subresource: "portforward"}, "to ask members"},
		{attributes{Verb: "list", Group: "policy", Resource: "poddisruptionbudgets"}, "who may evict them"},
		{attributes{Verb: "list", Resource: "persistentvolumeclaims"}, "their volumes"},
		{attributes{Verb: "list", Group: ours, Resource: "etcdbackups"}, "backups"},
	}
	if secret := a.secretOf(c); secret != "" {
		all = append(all, need{attributes{Verb: "get", Resource: "secrets", Name: secret}, "to ask members"})
	}
	if ref := c.Status.Operator; ref != nil {
		all = append(all, need{attributes{
			Verb: "get", Group: coordinationv1.GroupName, Resource: "leases", Namespace: ref.Namespace, Name: ref.Lease,
		}, "whether the operator runs"})
	}
	for i := range all {
		all[i].Namespace = cmp.Or(all[i].Namespace, a.namespace)
	}
	return all
}

// rights asks the API server which of those that this program needs its user has.
func (a *Access) rights(ctx context.Context, c *v1beta2.EtcdCluster) ([]doctor.Right, error) {
	var all []doctor.Right
	for _, n := range a.needs(c) {
		allowed, err := a.may(ctx, n.ResourceAttributes)
		if err != nil {
			return nil, err
		}
		right := doctor.Right{Verb: n.Verb, Resource: n.Resource, For: n.what, Allowed: allowed}
		if n.Subresource != "" {
			right.Resource += "/" + n.Subresource
		}
		if n.Name != "" {
			right.Resource += " " + n.Name
		}
		if n.Namespace != a.namespace {
			right.Resource += " in namespace " + n.Namespace
		}
		all = append(all, right)
	}
	return all, nil
}

// may asks the API server whether its user may do something.
func (a *Access) may(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
	if err := a.client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("ask what you may do: %w", err)
	}
	return review.Status.Allowed, nil
}

// lease looks at the Lease of an operator, and again a while later if it was not renewed a moment ago: clocks differ.
func (a *Access) lease(ctx context.Context, of *v1beta2.OperatorReference) (doctor.Lease, error) {
	if of == nil {
		return doctor.Lease{}, nil
	}
	first, err := a.leaseNow(ctx, of)
	if err != nil || first.Alive(time.Now()) || first.Holder == "" {
		return first, err
	}
	select {
	case <-ctx.Done():
		return first, ctx.Err()
	case <-time.After(AskTimeout): // more than twice as long as from one renewal to the next
	}
	second, err := a.leaseNow(ctx, of)
	second.Renews = !second.Renewed.Equal(first.Renewed)
	return second, err
}

func (a *Access) leaseNow(ctx context.Context, of *v1beta2.OperatorReference) (l doctor.Lease, err error) {
	object := &coordinationv1.Lease{}
	err = a.client.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: of.Lease}, object)
	if err != nil || of.UID != "" && string(object.UID) != of.UID {
		return l, client.IgnoreNotFound(err)
	}
	l.Exists = true
	if object.Spec.HolderIdentity != nil {
		l.Holder = *object.Spec.HolderIdentity
	}
	if object.Spec.RenewTime != nil {
		l.Renewed = object.Spec.RenewTime.Time
	}
	return l, nil
}
