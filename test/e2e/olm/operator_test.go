package olm

import (
	"context"
	"time"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operators are the pods of the installed operator.
func (s *story) operators(ctx context.Context) ([]corev1.Pod, error) {
	return s.Operators(ctx, s.namespace)
}

// leader is the pod that holds the operator's lease, empty if no one does.
func (s *story) leader(ctx context.Context) (string, error) {
	return s.ActingOperator(ctx, s.namespace)
}

// allowed checks that the operator was refused nothing that it asked Kubernetes for.
func (s *story) allowed() {
	s.t.Helper()
	if err := s.NothingForbidden(s.t.Context(), s.namespace); err != nil {
		s.t.Error(err)
	}
}

// describe logs what a reader of a failure needs of the installation.
func (s *story) describe() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	csvs, plans, subscriptions := &v1alpha1.ClusterServiceVersionList{}, &v1alpha1.InstallPlanList{}, &v1alpha1.SubscriptionList{}
	for _, list := range []client.ObjectList{csvs, plans, subscriptions} {
		if err := s.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			s.t.Log(err)
		}
	}
	for _, c := range csvs.Items {
		s.t.Logf("%s is %s (%s: %s), %+v", c.Name, c.Status.Phase, c.Status.Reason, c.Status.Message, c.Status.RequirementStatus)
	}
	for _, p := range plans.Items {
		s.t.Logf("%s of %v is %s (%s)", p.Name, p.Spec.ClusterServiceVersionNames, p.Status.Phase, p.Status.Message)
	}
	for _, u := range subscriptions.Items {
		s.t.Logf("Subscription %s: %s, %+v", u.Name, u.Status.State, u.Status.Conditions)
	}
	s.t.Log(s.OperatorFailure(ctx, s.namespace))
}
