package main

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/soak"
)

// refuse has the API server refuse, in the round's namespace, what the operator asks for.
func (r *round) refuse(ctx context.Context, kind soak.Kind) (undo, bool, error) {
	var objects []client.Object
	switch kind {
	case soak.RefusePods:
		objects = []client.Object{noPods(r.Namespace)}
	case soak.RefuseChanges:
		objects = noChanges(r.Namespace)
	default:
		return nil, false, nil
	}
	var err error
	for _, o := range objects {
		err = errors.Join(err, client.IgnoreAlreadyExists(r.bench.Create(ctx, o)))
	}
	return func(ctx context.Context) (err error) {
		for _, o := range objects {
			err = errors.Join(err, client.IgnoreNotFound(r.bench.Delete(ctx, o)))
		}
		return err
	}, true, err
}

// noPods is a quota with which no pod is created.
func noPods(namespace string) client.Object {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "no-pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.Quantity{}}},
	}
}

// noChanges is a policy with which the operator can create objects, and neither change nor delete those that there are.
func noChanges(namespace string) []client.Object {
	meta := metav1.ObjectMeta{Name: namespace + "-no-changes"}
	operator := fmt.Sprintf("system:serviceaccount:%s:etcd-operator-controller-manager", harness.OperatorNamespace)
	rule := func(group string, resources ...string) admissionv1.NamedRuleWithOperations {
		return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Update, admissionv1.Delete},
			Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: resources},
		}}
	}
	return []client.Object{
		&admissionv1.ValidatingAdmissionPolicy{
			ObjectMeta: meta,
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{
					rule("", "pods", "persistentvolumeclaims", "services"), rule("policy", "poddisruptionbudgets"),
				}},
				MatchConditions: []admissionv1.MatchCondition{
					{Name: "the-operator", Expression: fmt.Sprintf("request.userInfo.username == '%s'", operator)},
				},
				Validations: []admissionv1.Validation{{Expression: "false", Message: "nothing is changed here for now"}},
			},
		},
		&admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: meta,
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: meta.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
				MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
					MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
				}},
			},
		},
	}
}
