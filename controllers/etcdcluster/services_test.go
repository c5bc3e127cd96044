package etcdcluster_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// services changes what is asked of the Services, and the Services by hand, and looks at what becomes of them.
func (e *env) services(t *testing.T) {
	e.cluster(t, "ports", v1beta2.EtcdClusterSpec{Size: 1})
	plain := e.service(t, "ports-client", func(s *corev1.Service) bool { return len(s.Spec.Ports) == 1 })

	e.ask(t, &v1beta2.ServicesPolicy{Client: &v1beta2.ClientServicePolicy{
		Type: corev1.ServiceTypeLoadBalancer, NodePort: 30123, LoadBalancerSourceRanges: []string{"10.0.0.0/8"},
		ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, LoadBalancerClass: new("example.com/lb"),
		ServiceMeta: v1beta2.ServiceMeta{
			Annotations: map[string]string{"lb.example.com/internal": "true"}, Labels: map[string]string{"team": "a"},
		},
	}})
	e.service(t, "ports-client", func(s *corev1.Service) bool {
		return s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.Ports[0].NodePort == 30123 &&
			*s.Spec.LoadBalancerClass == "example.com/lb" && s.Labels["team"] == "a" && s.UID == plain.UID &&
			s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal &&
			s.Annotations["lb.example.com/internal"] == "true" && len(s.Spec.LoadBalancerSourceRanges) == 1
	})
	e.byHand(t, "ports-client", `{"metadata":{"annotations":{"mine":"kept","lb.example.com/internal":"false"}},
		"spec":{"selector":{"app":"other","more":"x"},"ports":[{"name":"client","port":4000},{"name":"more","port":4001}]}}`)
	e.service(t, "ports-client", func(s *corev1.Service) bool {
		return s.Spec.Selector["app"] == "etcd" && s.Spec.Selector["more"] == "" && len(s.Spec.Ports) == 1 &&
			s.Spec.Ports[0].Port == 2379 && s.Annotations["lb.example.com/internal"] == "true"
	})
	e.ask(t, nil)
	e.service(t, "ports-client", func(s *corev1.Service) bool {
		_, old := s.Annotations["lb.example.com/internal"]
		return s.Spec.Type == corev1.ServiceTypeClusterIP && s.Spec.Ports[0].NodePort == 0 && !old &&
			s.Annotations["mine"] == "kept" && s.Labels["team"] == "" && s.Spec.LoadBalancerClass == nil &&
			s.Spec.ExternalTrafficPolicy == "" && s.Spec.LoadBalancerSourceRanges == nil &&
			s.Spec.ClusterIP == plain.Spec.ClusterIP
	})
	t.Run("another type and back by hand", e.servicesByHand)
	t.Run("what Kubernetes refuses does not stop the rest", e.refusedService)
}

func (e *env) servicesByHand(t *testing.T) {
	for _, name := range []string{"ports", "ports-client"} {
		e.byHand(t, name, `{"spec":{"type":"ExternalName","externalName":"example.com","clusterIP":null,"clusterIPs":null,
			"ipFamilies":null,"ipFamilyPolicy":null}}`)
		e.service(t, name, func(s *corev1.Service) bool {
			return s.Spec.Type == corev1.ServiceTypeClusterIP && s.Spec.ExternalName == "" &&
				(s.Spec.ClusterIP == corev1.ClusterIPNone) == (name == "ports")
		})
		old := e.service(t, name, func(*corev1.Service) bool { return true })
		must(t, e.Delete(t.Context(), old))
		e.service(t, name, func(s *corev1.Service) bool { return s.UID != old.UID })
	}
}

func (e *env) refusedService(t *testing.T) {
	e.ask(t, &v1beta2.ServicesPolicy{
		Client: &v1beta2.ClientServicePolicy{Type: corev1.ServiceTypeNodePort, NodePort: 1},
		Peer:   &v1beta2.PeerServicePolicy{ServiceMeta: v1beta2.ServiceMeta{Labels: map[string]string{"team": "b"}}},
	})
	e.service(t, "ports", func(s *corev1.Service) bool { return s.Labels["team"] == "b" })
	pods := e.podsOf(t, "ports", 1)
	must(t, e.Delete(t.Context(), &pods[0], client.GracePeriodSeconds(0)))
	await(t, "another pod", func() error {
		if again := e.podsOf(t, "ports", 1); again[0].UID == pods[0].UID {
			return fmt.Errorf("pod %s is the old one", again[0].Name)
		}
		return nil
	})
	await(t, "condition", func() error { // etcd does not run here: the members are waited for all the while
		got := meta.FindStatusCondition(e.read(t, "ports").Status.Conditions, v1beta2.ConditionDegraded)
		if got == nil || got.Reason != v1beta2.ReasonInvalidService || !strings.Contains(got.Message, "nodePort") {
			return fmt.Errorf("Degraded is %+v", got)
		}
		return nil
	})
	e.ask(t, nil)
	await(t, "no condition", func() error {
		got := meta.FindStatusCondition(e.read(t, "ports").Status.Conditions, v1beta2.ConditionDegraded)
		if got == nil || got.Reason == v1beta2.ReasonInvalidService || strings.Contains(got.Message, "nodePort") {
			return fmt.Errorf("Degraded is %+v", got)
		}
		return nil
	})
}

// ask changes what is asked of the Services.
func (e *env) ask(t *testing.T, services *v1beta2.ServicesPolicy) {
	t.Helper()
	object := e.read(t, "ports")
	before := object.DeepCopy()
	object.Spec.Services = services
	must(t, e.Patch(t.Context(), object, client.MergeFrom(before)))
}

// byHand changes a Service as a user would.
func (e *env) byHand(t *testing.T, name, patch string) {
	t.Helper()
	object := &corev1.Service{}
	object.Namespace, object.Name = namespace, name
	must(t, e.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// service waits until the Service is as it should be.
func (e *env) service(t *testing.T, name string, right func(*corev1.Service) bool) *corev1.Service {
	t.Helper()
	object := &corev1.Service{}
	await(t, "Service "+name, func() error {
		*object = corev1.Service{}
		err := e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object)
		if err == nil && !right(object) {
			err = fmt.Errorf("%v, %v, %+v", object.Labels, object.Annotations, object.Spec)
		}
		return err
	})
	return object
}
