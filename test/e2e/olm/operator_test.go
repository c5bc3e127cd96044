package olm

import (
	"context"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operators are the pods of the installed operator.
func (s *story) operators(ctx context.Context) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := s.List(ctx, pods, client.InNamespace(s.namespace), client.MatchingLabels{"control-plane": "controller-manager"})
	return pods.Items, err
}

// sayings are what the operators said.
func (s *story) sayings(ctx context.Context) string {
	pods, err := s.operators(ctx)
	if err != nil {
		return err.Error()
	}
	said := ""
	for _, p := range pods {
		log, err := s.Kube.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		if err != nil {
			log = []byte(err.Error())
		}
		said += string(log)
	}
	return said
}

// allowed checks that the operator was refused nothing that it asked Kubernetes for.
func (s *story) allowed() {
	s.t.Helper()
	said := s.sayings(s.t.Context())
	if !strings.Contains(said, "starting") {
		s.t.Errorf("the operator has no log: %s", said)
	}
	for line := range strings.Lines(said) {
		if strings.Contains(strings.ToLower(line), "forbidden") {
			s.t.Errorf("the operator lacks a right: %s", line)
		}
	}
}

// leader is the pod that holds the operator's lease, empty if no one does.
func (s *story) leader(ctx context.Context) (string, error) {
	lease, err := s.Kube.CoordinationV1().Leases(s.namespace).
		Get(ctx, "etcd-operator.etcd.database.coreos.com", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return pod, nil
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
	events, err := s.Kube.EventsV1().Events(s.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		s.t.Log(err)
		return
	}
	for _, e := range events.Items {
		if e.Type == corev1.EventTypeWarning {
			s.t.Logf("event %s/%s %s: %s", e.Regarding.Kind, e.Regarding.Name, e.Reason, e.Note)
		}
	}
	const most = 60
	lines := strings.Split(s.sayings(ctx), "\n")
	for _, line := range lines[max(0, len(lines)-most):] {
		s.t.Logf("operator: %s", line)
	}
}
