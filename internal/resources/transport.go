package resources

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// SpecTransport is the transport that a spec asks for.
func SpecTransport(s *v1beta2.EtcdClusterSpec) member.Transport {
	var t member.Transport
	if s.ManagedTLS() != nil {
		t = member.Transport{PeerTLS: true, ClientTLS: true}
	} else if static, _ := s.StaticTLS(); static != nil && static.Member != nil {
		t = member.Transport{PeerTLS: static.Member.PeerSecret != "", ClientTLS: static.Member.ServerSecret != ""}
	}
	t.ClientBoth = t.ClientTLS && s.AllowsPlaintextClients()
	return t
}

// Transport is that of a cluster's members: the recorded one, or before a start is recorded the one that the spec asks for.
func Transport(c *v1beta2.EtcdCluster) member.Transport {
	if !Started(c) {
		return SpecTransport(&c.Spec)
	}
	if c.Status.Transport == nil {
		return member.Transport{}
	}
	return member.Transport(*c.Status.Transport)
}

// Started reports whether status records a start of the cluster, or its adoption: its transport is recorded.
func Started(c *v1beta2.EtcdCluster) bool {
	return c.Status.Bootstrap != nil || c.Status.ClusterID != ""
}

// TransportMark is that annotation's value in a merge patch, nil to remove it.
func TransportMark(t member.Transport) any {
	if t.IsZero() {
		return nil
	}
	return encode(t)
}

// PodTransport is what the member in a pod serves; unchanged for as long as the pod is there.
func PodTransport(pod *corev1.Pod) member.Transport {
	config, _ := podConfig(pod)
	return config.Transport
}

// podConfig is the configuration that a pod was made with; false if it says none.
func podConfig(pod *corev1.Pod) (member.Config, bool) {
	for _, v := range EtcdOf(pod).Env {
		if v.Name != member.EnvConfig {
			continue
		}
		if config, err := member.ParseConfig(v.Value); err == nil {
			return *config, true
		}
	}
	return member.Config{}, false
}

// VolumeTransport is what the pod on a volume is to serve.
func VolumeTransport(claim *corev1.PersistentVolumeClaim) (t member.Transport) {
	_ = json.Unmarshal([]byte(claim.Annotations[AnnotationTransport]), &t) // what was not written here says nothing
	return t
}
