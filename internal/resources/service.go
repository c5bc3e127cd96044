package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// ClientServicePort is the port of the Service for clients.
func ClientServicePort(c *v1beta2.EtcdCluster) int32 {
	if given := clientPolicy(c).Port; given != 0 {
		return given
	}
	return member.ClientPort
}

// PeerService is the headless Service behind the members' DNS names. It publishes addresses that are not ready: members
// must find each other before any of them can be ready.
func PeerService(c *v1beta2.EtcdCluster) *corev1.Service {
	policy := v1beta2.PeerServicePolicy{}
	if c.Spec.Services != nil && c.Spec.Services.Peer != nil {
		policy = *c.Spec.Services.Peer
	}
	return service(c, PeerServiceName(c.Name), policy.ServiceMeta, corev1.ServiceSpec{
		Type:                     corev1.ServiceTypeClusterIP,
		ClusterIP:                corev1.ClusterIPNone,
		PublishNotReadyAddresses: true,
		Selector:                 ClusterSelector(c.Name),
		Ports:                    []corev1.ServicePort{port("client", member.ClientPort), port("peer", member.PeerPort)},
	})
}

// ClientService is the Service for clients. Only voters carry the label that it selects.
func ClientService(c *v1beta2.EtcdCluster) *corev1.Service {
	policy := clientPolicy(c)
	client := port("client", member.ClientPort)
	client.Port, client.NodePort = ClientServicePort(c), policy.NodePort
	spec := corev1.ServiceSpec{
		Type:                     corev1.ServiceTypeClusterIP,
		Selector:                 ServingSelector(c.Name),
		Ports:                    []corev1.ServicePort{client},
		LoadBalancerClass:        policy.LoadBalancerClass,
		LoadBalancerSourceRanges: policy.LoadBalancerSourceRanges,
		SessionAffinity:          policy.SessionAffinity,
	}
	if policy.Type != "" && policy.Type != corev1.ServiceTypeClusterIP {
		spec.Type, spec.ExternalTrafficPolicy = policy.Type, corev1.ServiceExternalTrafficPolicyCluster
		if policy.ExternalTrafficPolicy != "" {
			spec.ExternalTrafficPolicy = policy.ExternalTrafficPolicy
		}
	}
	if policy.InternalTrafficPolicy != "" {
		spec.InternalTrafficPolicy = &policy.InternalTrafficPolicy
	}
	return service(c, ClientServiceName(c.Name), policy.ServiceMeta, spec)
}

func clientPolicy(c *v1beta2.EtcdCluster) v1beta2.ClientServicePolicy {
	if c.Spec.Services == nil || c.Spec.Services.Client == nil {
		return v1beta2.ClientServicePolicy{}
	}
	return *c.Spec.Services.Client
}

// service sets every field that a later spec may reset explicitly: an absent field would keep its value.
func service(c *v1beta2.EtcdCluster, name string, meta v1beta2.ServiceMeta, spec corev1.ServiceSpec) *corev1.Service {
	single, everywhere := corev1.IPFamilyPolicySingleStack, corev1.ServiceInternalTrafficPolicyCluster
	if meta.IPFamilyPolicy != "" {
		single = meta.IPFamilyPolicy
	}
	if spec.InternalTrafficPolicy == nil {
		spec.InternalTrafficPolicy = &everywhere
	}
	if spec.SessionAffinity == "" {
		spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	spec.IPFamilyPolicy, spec.IPFamilies = &single, meta.IPFamilies
	out := &corev1.Service{ObjectMeta: objectMeta(c, name), Spec: spec}
	given := metadata{Labels: without(meta.Labels, out.Labels), Annotations: meta.Annotations}
	out.Labels = merge(given.Labels, out.Labels)
	out.Annotations = merge(given.Annotations, map[string]string{
		AnnotationMetadata: encode(given), AnnotationTemplate: hash(spec),
	})
	return out
}

func port(name string, number int32) corev1.ServicePort {
	return corev1.ServicePort{
		Name: name, Port: number, TargetPort: intstr.FromInt32(number), Protocol: corev1.ProtocolTCP,
	}
}

// ServiceDue reports whether a Service has to be patched: because the spec has changed, which its annotations show, or because it was
// changed by hand. Fields that Kubernetes or a load balancer fills in are ignored.
func ServiceDue(have, want *corev1.Service) bool {
	h, w := have.Spec, want.Spec
	return !contains(have.Labels, want.Labels) || !contains(have.Annotations, want.Annotations) ||
		h.Type != w.Type || w.ClusterIP != "" && h.ClusterIP != w.ClusterIP ||
		h.PublishNotReadyAddresses != w.PublishNotReadyAddresses || h.SessionAffinity != w.SessionAffinity ||
		h.ExternalTrafficPolicy != w.ExternalTrafficPolicy ||
		h.InternalTrafficPolicy == nil || *h.InternalTrafficPolicy != *w.InternalTrafficPolicy ||
		len(h.Selector) != len(w.Selector) || !contains(h.Selector, w.Selector) ||
		!slices.Equal(h.LoadBalancerSourceRanges, w.LoadBalancerSourceRanges) ||
		!slices.EqualFunc(h.Ports, w.Ports, samePort)
}

func samePort(have, want corev1.ServicePort) bool {
	return have.Name == want.Name && have.Port == want.Port && have.TargetPort == want.TargetPort &&
		have.Protocol == want.Protocol && (want.NodePort == 0 || have.NodePort == want.NodePort)
}

// ServicePatch is the change to the wanted Service, as the metadata and the spec of a JSON merge patch. Metadata of others stays.
func ServicePatch(have, want *corev1.Service) (meta, spec map[string]any) {
	given := decode(want.Annotations[AnnotationMetadata])
	meta = metadataPatch(have.Annotations, given)
	meta["labels"] = change(decode(have.Annotations[AnnotationMetadata]).Labels, want.Labels)
	annotations, _ := meta["annotations"].(map[string]any)
	annotations[AnnotationTemplate] = want.Annotations[AnnotationTemplate]
	w := want.Spec
	spec = map[string]any{
		"type": w.Type, "externalName": nil, "ports": w.Ports, "selector": change(have.Spec.Selector, w.Selector),
		"publishNotReadyAddresses": w.PublishNotReadyAddresses, "sessionAffinity": w.SessionAffinity,
		"internalTrafficPolicy": w.InternalTrafficPolicy, "ipFamilyPolicy": w.IPFamilyPolicy,
		"externalTrafficPolicy": nil, "loadBalancerClass": w.LoadBalancerClass,
		"loadBalancerSourceRanges": w.LoadBalancerSourceRanges,
	}
	if w.SessionAffinity == corev1.ServiceAffinityNone {
		spec["sessionAffinityConfig"] = nil
	}
	if w.ExternalTrafficPolicy != "" {
		spec["externalTrafficPolicy"] = w.ExternalTrafficPolicy
	}
	if w.ClusterIP != "" {
		spec["clusterIP"] = w.ClusterIP
	}
	if len(w.IPFamilies) > 0 {
		spec["ipFamilies"] = w.IPFamilies
	}
	return meta, spec
}
