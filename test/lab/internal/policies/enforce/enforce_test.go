package enforce

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// packet is the beginning of an IPv4 packet to a port, with so many words of options.
func packet(from, to string, protocol byte, port uint16, options int) []byte {
	data := make([]byte, 20+4*options+4)
	data[0], data[9] = 4<<4|byte(5+options), protocol
	source, destination := netip.MustParseAddr(from).As4(), netip.MustParseAddr(to).As4()
	copy(data[12:], source[:])
	copy(data[16:], destination[:])
	data[len(data)-2], data[len(data)-1] = byte(port>>8), byte(port)
	return data
}

func TestParse(t *testing.T) {
	want := connection{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), corev1.ProtocolTCP, 2380}
	for _, options := range []int{0, 10} {
		whole := packet("10.0.0.1", "10.0.0.2", 6, 2380, options)
		if got, ok := parse(whole); !ok || got != want {
			t.Errorf("with %d words of options it is %+v, %v", options, got, ok)
		}
		for n := range whole {
			if got, ok := parse(whole[:n]); ok {
				t.Errorf("%d bytes are %+v", n, got)
			}
		}
	}
	if _, ok := parse(packet("10.0.0.1", "10.0.0.2", 1, 0, 0)); ok {
		t.Error("ICMP has ports")
	}
}

func pod(name, ip string, labels map[string]string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Labels: labels},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIPs: []corev1.PodIP{{IP: ip}}},
	}
}

// cluster has a pod to which only friends are admitted, at one port.
func cluster(t *testing.T) (*Cluster, *httptest.Server) {
	t.Helper()
	tcp, port := corev1.ProtocolTCP, intstr.FromInt32(2380)
	ended, host := pod("ended", "10.0.0.4", map[string]string{"friend": "y"}), pod("host", "10.0.0.5", map[string]string{"friend": "y"})
	ended.Status.Phase, host.Spec.HostNetwork = corev1.PodSucceeded, true
	lists := map[string]any{
		"/api/v1/pods": corev1.PodList{Items: []corev1.Pod{
			pod("target", "10.0.0.1", map[string]string{"app": "etcd"}), pod("friend", "10.0.0.2", map[string]string{"friend": "y"}),
			pod("stranger", "10.0.0.3", nil), ended, host,
		}},
		"/api/v1/namespaces": corev1.NamespaceList{Items: []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}},
		"/apis/networking.k8s.io/v1/networkpolicies": networkingv1.NetworkPolicyList{Items: []networkingv1.NetworkPolicy{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"},
			Spec: networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "etcd"}},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
				Ingress: []networkingv1.NetworkPolicyIngressRule{{
					From: []networkingv1.NetworkPolicyPeer{{
						PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"friend": "y"}},
					}},
					Ports: []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: &port}},
				}},
			},
		}}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewEncoder(w).Encode(lists[r.URL.Path]); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &Cluster{Client: server.Client(), Server: server.URL, Log: io.Discard}, server
}

func TestAllow(t *testing.T) {
	c, server := cluster(t)
	for _, tc := range []struct {
		name, from, to string
		port           uint16
		want           bool
	}{
		{"a friend", "10.0.0.2", "10.0.0.1", 2380, true},
		{"a friend at another port", "10.0.0.2", "10.0.0.1", 2379, false},
		{"a stranger", "10.0.0.3", "10.0.0.1", 2380, false},
		{"from outside", "192.0.2.1", "10.0.0.1", 2380, false},
		{"the address of a pod that has ended", "10.0.0.4", "10.0.0.1", 2380, false},
		{"a pod in its node's network", "10.0.0.5", "10.0.0.1", 2380, false},
		{"to a pod without a policy", "10.0.0.1", "10.0.0.3", 2380, true},
		{"to the outside", "10.0.0.1", "192.0.2.1", 443, true},
	} {
		if got := c.allow(t.Context(), packet(tc.from, tc.to, 6, tc.port, 0)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	server.Close()
	c.read = c.read.Add(-2 * fresh)
	if !c.allow(t.Context(), packet("10.0.0.2", "10.0.0.1", 6, 2380, 0)) || c.allow(t.Context(), packet("10.0.0.3", "10.0.0.1", 6, 2380, 0)) {
		t.Error("without the API it is not as it was")
	}
	unknown := &Cluster{Client: server.Client(), Server: server.URL, Log: io.Discard}
	if unknown.allow(t.Context(), packet("10.0.0.2", "10.0.0.1", 6, 2380, 0)) {
		t.Error("something is allowed before anything is known")
	}
}
