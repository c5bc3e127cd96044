package harness

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operatorAccount is the ServiceAccount of the operator in OperatorNamespace.
const operatorAccount = "etcd-operator-controller-manager"

// Untouched is an error if somebody has looked at a cluster, or there is anything that may be of it. Ask once others that came later are served.
func (c *Cluster) Untouched(ctx context.Context) error {
	object, err := c.Get(ctx)
	if err != nil {
		return err
	}
	if object.Status.Operator != nil || object.Status.Phase != "" || len(object.Status.Conditions) > 0 {
		return fmt.Errorf("somebody has looked at the cluster in %s: %+v", c.Namespace, object.Status)
	}
	for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}} {
		if err := c.List(ctx, list, client.InNamespace(c.Namespace)); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%T in %s has %d objects", list, c.Namespace, n)
		}
	}
	return nil
}

// OperatorMay asks the API server whether the operator in OperatorNamespace may do something. Without a namespace that is about all of them.
func (e *Env) OperatorMay(ctx context.Context, asked authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + OperatorNamespace + ":" + operatorAccount, ResourceAttributes: &asked,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + OperatorNamespace, "system:authenticated"},
	}}
	err := e.Create(ctx, review)
	return review.Status.Allowed, err
}
