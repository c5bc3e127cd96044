package rights

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Grant is one verb on one kind of objects that a role gives.
type Grant struct {
	// Namespace is the only one that it holds in; empty for the whole Kubernetes cluster.
	Namespace string
	// Verb is one of RBAC's, such as get.
	Verb string
	// Group is the API group, empty for the core one. Resource may have a subresource: pods/resize.
	Group, Resource string
	// Name is that of the only object that it is about; empty for all.
	Name string
}

// String is for people: "get leases.coordination.k8s.io one in etcd-operator-system".
func (g Grant) String() string {
	words := []string{g.Verb, g.Resource}
	if g.Group != "" {
		words[1] += "." + g.Group
	}
	if g.Name != "" {
		words = append(words, g.Name)
	}
	if g.Namespace != "" {
		words = append(words, "in", g.Namespace)
	}
	return strings.Join(words, " ")
}

// covers reports whether a request needs no more than this.
func (g Grant) covers(r Grant) bool {
	return g.Verb == r.Verb && g.Group == r.Group && g.Resource == r.Resource &&
		(g.Namespace == "" || g.Namespace == r.Namespace) && (g.Name == "" || g.Name == r.Name)
}

// Granted are the rights that are bound to a ServiceAccount, in all namespaces. Those of groups are not among them.
func Granted(ctx context.Context, c client.Reader, account client.ObjectKey) ([]Grant, error) {
	everywhere, bound := &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}
	if err := c.List(ctx, everywhere); err != nil {
		return nil, fmt.Errorf("list ClusterRoleBindings: %w", err)
	}
	if err := c.List(ctx, bound); err != nil {
		return nil, fmt.Errorf("list RoleBindings: %w", err)
	}
	var all []Grant
	for _, b := range everywhere.Items {
		if binds(b.Subjects, account) {
			found, err := rulesOf(ctx, c, "", b.RoleRef)
			if err != nil {
				return nil, err
			}
			all = append(all, grants("", found)...)
		}
	}
	for _, b := range bound.Items {
		if binds(b.Subjects, account) {
			found, err := rulesOf(ctx, c, b.Namespace, b.RoleRef)
			if err != nil {
				return nil, err
			}
			all = append(all, grants(b.Namespace, found)...)
		}
	}
	slices.SortFunc(all, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.String(), b.String()))
	})
	return slices.Compact(all), nil
}

func binds(subjects []rbacv1.Subject, account client.ObjectKey) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Name == account.Name && s.Namespace == account.Namespace
	})
}

func rulesOf(ctx context.Context, c client.Reader, namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, error) {
	key := client.ObjectKey{Namespace: namespace, Name: ref.Name}
	if ref.Kind == "ClusterRole" {
		role := &rbacv1.ClusterRole{}
		key.Namespace = ""
		if err := c.Get(ctx, key, role); err != nil {
			return nil, fmt.Errorf("read ClusterRole %s: %w", ref.Name, err)
		}
		return role.Rules, nil
	}
	role := &rbacv1.Role{}
	if err := c.Get(ctx, key, role); err != nil {
		return nil, fmt.Errorf("read Role %s: %w", key, err)
	}
	return role.Rules, nil
}

// grants takes rules apart.
func grants(namespace string, rules []rbacv1.PolicyRule) (all []Grant) {
	for _, r := range rules {
		names := r.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					for _, name := range names {
						all = append(all, Grant{Namespace: namespace, Verb: verb, Group: group, Resource: resource, Name: name})
					}
				}
			}
		}
	}
	return all
}
