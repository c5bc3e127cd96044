package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

const (
	// nonRoot is the user and group of a member's containers: etcd's own image names none.
	nonRoot = 65532
	// unreachableSeconds is how long a pod stays on a node that is NotReady before Kubernetes evicts it, unless the user's
	// tolerations say otherwise. Kubernetes' own default of 300 s is long for a missing member.
	unreachableSeconds = 30
)

func place(c *v1beta2.EtcdCluster, spec *corev1.PodSpec) {
	policy := podPolicy(c)
	spec.NodeSelector = policy.NodeSelector
	spec.Affinity = policy.Affinity
	spec.Tolerations = tolerations(policy.Tolerations)
	spec.TopologySpreadConstraints = policy.TopologySpreadConstraints
	if policy.AntiAffinity && policy.Affinity == nil {
		spec.Affinity = antiAffinity(c)
	}
	if spec.Affinity == nil && len(spec.TopologySpreadConstraints) == 0 {
		spec.TopologySpreadConstraints = spread(c)
	}
}

// spread is the default: over nodes and zones as evenly as possible, without keeping pods Pending if it is not.
func spread(c *v1beta2.EtcdCluster) []corev1.TopologySpreadConstraint {
	var constraints []corev1.TopologySpreadConstraint
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		constraints = append(constraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: ClusterSelector(c.Name)},
		})
	}
	return constraints
}

// antiAffinity is what the legacy field pod.antiAffinity stands for.
func antiAffinity(c *v1beta2.EtcdCluster) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{LabelCluster: c.Name}},
			TopologyKey:   corev1.LabelHostname,
		}},
	}}
}

// tolerations adds how long to stay on a node that is NotReady or unreachable, unless the user has set that.
func tolerations(given []corev1.Toleration) []corev1.Toleration {
	out := append([]corev1.Toleration{}, given...)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerated := false
		for _, t := range given {
			tolerated = tolerated || t.Key == key || t.Key == "" && t.Operator == corev1.TolerationOpExists
		}
		if !tolerated {
			seconds := int64(unreachableSeconds)
			out = append(out, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: &seconds,
			})
		}
	}
	return out
}

// securityContext meets the "restricted" Pod Security Standard unless the user has set another.
func securityContext(policy *v1beta2.PodPolicy, o PodOptions) *corev1.PodSecurityContext {
	if policy.SecurityContext != nil {
		return policy.SecurityContext
	}
	yes, id, onMismatch := true, int64(nonRoot), corev1.FSGroupChangeOnRootMismatch
	context := &corev1.PodSecurityContext{
		RunAsNonRoot:        &yes,
		FSGroupChangePolicy: &onMismatch,
		SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if !o.OpenShift {
		context.RunAsUser, context.RunAsGroup, context.FSGroup = &id, &id, &id
	}
	return context
}

func containerSecurity() *corev1.SecurityContext {
	no, yes := false, true
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no,
		ReadOnlyRootFilesystem:   &yes,
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// readiness asks etcd's own /readyz, which is false for learners and without a quorum. The period of one second is what
// kubeadm uses for etcd.
func readiness() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/readyz", Port: intstr.FromInt32(member.MetricsPort), Scheme: corev1.URISchemeHTTP,
		}},
		PeriodSeconds: 1, TimeoutSeconds: 3, SuccessThreshold: 1, FailureThreshold: 3,
	}
}
