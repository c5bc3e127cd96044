package stories

import (
	"context"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rule is what a policy has to say about requests in one namespace.
type rule struct {
	// group and resource say what the requests are for, such as policy and poddisruptionbudgets.
	group, resource string
	operations      []admissionv1.OperationType
	// allowed is a CEL expression that holds for what is allowed; message is said of the rest.
	allowed, message string
}

// deny makes a ValidatingAdmissionPolicy until it is lifted or the test ends. It takes a moment until it is obeyed.
func deny(t *testing.T, namespace string, r rule) (lift func()) {
	t.Helper()
	name := metav1.ObjectMeta{Name: namespace}
	return untilLifted(t,
		&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: name, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: matching(namespace, r.group, r.resource, r.operations),
			Validations:      []admissionv1.Validation{{Expression: r.allowed, Message: r.message}},
		}},
		&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: name, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		}})
}

// rewrite makes a MutatingAdmissionPolicy that applies a CEL expression to every pod that is created or changed, until it is
// lifted or the test ends. It takes a moment until it is obeyed.
func rewrite(t *testing.T, namespace, expression string) (lift func()) {
	t.Helper()
	name := metav1.ObjectMeta{Name: namespace}
	return untilLifted(t,
		&admissionv1.MutatingAdmissionPolicy{ObjectMeta: name, Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints:   matching(namespace, "", "pods", []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType:          admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: expression},
			}},
		}},
		&admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: name, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{
			PolicyName: namespace,
		}})
}

func matching(namespace, group, resource string, operations []admissionv1.OperationType) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		NamespaceSelector: only(namespace),
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: operations,
			Rule: admissionv1.Rule{
				APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource},
			},
		}}},
	}
}

func only(namespace string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}
}

// untilLifted makes objects that no namespace takes along when it goes, and returns what deletes them, which the test's end does at
// the latest.
func untilLifted(t *testing.T, objects ...client.Object) (lift func()) {
	t.Helper()
	lift = func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		for _, o := range objects {
			if err := client.IgnoreNotFound(env.Delete(ctx, o)); err != nil {
				t.Error(err)
			}
		}
	}
	lift() // what an earlier run has left
	t.Cleanup(lift)
	for _, o := range objects {
		must(t, env.Create(t.Context(), o))
	}
	return lift
}
