package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestPodTransport reads of a pod what it was made to serve, and holds that pods do not tell which of two served schemes is committed.
func TestPodTransport(t *testing.T) {
	c := cluster(func(*v1beta2.EtcdCluster) {})
	both := member.Transport{PeerBoth: true, ClientBoth: true}
	for _, given := range []member.Transport{
		{}, {PeerTLS: true, ClientTLS: true}, {PeerPort: member.OtherPeerPort}, both, both.OtherPeers(), {ClientTLS: true, ClientBoth: true},
	} {
		pod, err := Pod(c, "example-0", 1, nil, PodOptions{Transport: given, Trust: "trust"})
		if err != nil {
			t.Fatal(err)
		}
		if got := PodTransport(pod); got != given.Served() {
			t.Errorf("%+v: it serves %+v", given, got)
		}
		if mounts := TrustOf(pod) != ""; mounts != given.SecuresAny() {
			t.Errorf("%+v: it mounts authorities: %t", given, mounts)
		}
	}
	if got := PodTransport(&corev1.Pod{}); got != (member.Transport{}) {
		t.Errorf("a pod without etcd serves %+v", got)
	}
}

// TestTransportMark is read as it was written, and removed where it would say nothing.
func TestTransportMark(t *testing.T) {
	given := member.Transport{PeerTLS: true, PeerBoth: true, PeerPort: member.OtherPeerPort}
	claim := &corev1.PersistentVolumeClaim{}
	text, _ := TransportMark(given).(string)
	claim.Annotations = map[string]string{AnnotationTransport: text}
	if got := VolumeTransport(claim); got != given {
		t.Errorf("%q is read as %+v", text, got)
	}
	if mark := TransportMark(member.Transport{}); mark != nil {
		t.Errorf("%v marks a volume without TLS", mark)
	}
}
