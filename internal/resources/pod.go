package resources

import (
	"cmp"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// EtcdContainer is the name of the container that runs etcd.
const EtcdContainer = "etcd"

// metricsPort is the name of the port at which a member serves its metrics.
const metricsPort = "metrics"

// installContainer is the init container that installs member-run.
const installContainer = "install-member-run"

const (
	dataVolume    = "etcd-data"
	programVolume = "member-run"
	stateVolume   = "member-state"
	permitVolume  = "permit"
	// binaryPath is where the init container leaves member-run.
	binaryPath = member.ProgramDir + "/member-run"
	// graceSeconds leaves etcd time to hand over leadership on SIGTERM (7 s by its defaults) and to close its files.
	graceSeconds = 30
)

// PodOptions are what a pod gets from the operator rather than from the EtcdCluster.
type PodOptions struct {
	// OperatorImage holds member-run.
	OperatorImage string
	// Repository is the image repository of etcd for specs without one; empty for the built-in one.
	Repository string
	// Pinned are the images of etcd that are known by their digests.
	Pinned version.Pinned
	// EtcdVersion is the version to run, for example "3.6.16".
	EtcdVersion string
	// Persistent puts the data on the claim of the pod's name rather than in an emptyDir volume.
	Persistent bool
	// OpenShift leaves user and group to the namespace's security context constraints.
	OpenShift bool
	// Transport says which sides of the member use TLS: as recorded of the cluster, not as its spec asks.
	Transport member.Transport
	// Trust is the name of the Secret with the authorities that the member trusts; empty without TLS.
	Trust string
	// Avoid is the node that the pod stays away from. It is no part of a pod's revision.
	Avoid plan.Avoidance
}

// Pod is one member's pod. It waits in member-run until it has a permit.
func Pod(c *v1beta2.EtcdCluster, name string, incarnation int, permit *member.Permit, o PodOptions) (
	*corev1.Pod, error,
) {
	pod, err := basePod(c, name, incarnation, o)
	if err != nil {
		return nil, err
	}
	revision, err := RevisionOf(c, o)
	if err != nil {
		return nil, err
	}
	pod.Annotations = merge(pod.Annotations, revision.annotations(), map[string]string{AnnotationImage: EtcdOf(pod).Image})
	avoid(pod, o.Avoid)
	if permit != nil {
		text, err := permit.Encode()
		if err != nil {
			return nil, err
		}
		pod.Annotations[member.PermitAnnotation] = text
	}
	return pod, nil
}

// basePod is a pod without the operator's annotations.
func basePod(c *v1beta2.EtcdCluster, name string, incarnation int, o PodOptions) (*corev1.Pod, error) {
	config, err := json.Marshal(memberConfig(c, name, o.Transport))
	if err != nil {
		return nil, fmt.Errorf("encode the member's configuration: %w", err)
	}
	policy := podPolicy(c)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: c.Namespace,
			Labels:          merge(policy.Labels, memberLabels(c.Name, name, incarnation)),
			Annotations:     merge(policy.Annotations),
			OwnerReferences: []metav1.OwnerReference{Owner(c)},
		},
		Spec: podSpec(c, name, string(config), o),
	}
	if policy.Template != nil {
		// An invalid one never gets here: the spec is validated before anything is created.
		if patched, err := applyTemplate(policy.Template.Raw, pod); err == nil {
			return patched, nil
		}
	}
	return pod, nil
}

func podPolicy(c *v1beta2.EtcdCluster) *v1beta2.PodPolicy {
	if c.Spec.Pod == nil {
		return &v1beta2.PodPolicy{}
	}
	return c.Spec.Pod
}

// memberConfig is the configuration of a member for its whole life. Invalid options never get here: the spec is validated before
// anything is created.
func memberConfig(c *v1beta2.EtcdCluster, name string, t member.Transport) member.Config {
	t = t.Served()
	host := member.Host(name, c.Name, c.Namespace, Domain(c))
	options, _ := Options(c, "")
	return member.Config{
		Name:      name,
		PeerURL:   member.PeerURL(host, t),
		ClientURL: member.ClientURL(host, t),
		DataDir:   member.DataDir,
		Options:   options,
		Transport: t,
	}
}

func podSpec(c *v1beta2.EtcdCluster, name, config string, o PodOptions) corev1.PodSpec {
	policy := podPolicy(c)
	no := false
	grace := int64(graceSeconds)
	spec := corev1.PodSpec{
		InitContainers: []corev1.Container{installer(c, o)},
		Containers:     []corev1.Container{etcd(c, config, o)},
		Volumes:        append(volumes(name, o.Persistent), tlsVolumes(name, o)...),
		RestartPolicy:  corev1.RestartPolicyAlways,
		// The pod's DNS name is <hostname>.<subdomain>.<namespace>.svc: the one in its peer URL.
		Hostname:                      name,
		Subdomain:                     PeerServiceName(c.Name),
		AutomountServiceAccountToken:  &no,
		EnableServiceLinks:            &no,
		TerminationGracePeriodSeconds: &grace,
		SecurityContext:               securityContext(policy, o),
		ServiceAccountName:            policy.ServiceAccountName,
		ImagePullSecrets:              policy.ImagePullSecrets,
		PriorityClassName:             policy.PriorityClassName,
	}
	place(c, &spec)
	return spec
}

// installer copies member-run to where the etcd container can execute it.
func installer(c *v1beta2.EtcdCluster, o PodOptions) corev1.Container {
	return corev1.Container{
		Name:            installContainer,
		Image:           o.OperatorImage,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"/member-run", "install", member.ProgramDir},
		Resources:       installerResources(c),
		SecurityContext: containerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{{Name: programVolume, MountPath: member.ProgramDir}},
	}
}

func etcd(c *v1beta2.EtcdCluster, config string, o PodOptions) corev1.Container {
	return corev1.Container{
		Name:            EtcdContainer,
		Image:           o.Pinned.Image(cmp.Or(c.Spec.Repository, o.Repository), o.EtcdVersion),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{binaryPath, "start"},
		Env: []corev1.EnvVar{
			{Name: member.EnvConfig, Value: config},
			fieldEnv(member.EnvPodUID, "metadata.uid"),
			fieldEnv(member.EnvPodIP, "status.podIP"),
		},
		Ports: []corev1.ContainerPort{
			{Name: "client", ContainerPort: member.ClientPort, Protocol: corev1.ProtocolTCP},
			{Name: "peer", ContainerPort: member.PeerPort, Protocol: corev1.ProtocolTCP},
			{Name: metricsPort, ContainerPort: member.MetricsPort, Protocol: corev1.ProtocolTCP},
		},
		Resources: tunedResources(c),
		// No liveness probe: a member does not answer while it waits for its permit or replays its log, and a restart would not
		// help.
		ReadinessProbe:         readiness(),
		SecurityContext:        containerSecurity(),
		TerminationMessagePath: corev1.TerminationMessagePathDefault,
		// The end of etcd's log is the termination message, unless member-run has written one.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts: append([]corev1.VolumeMount{
			{Name: dataVolume, MountPath: member.DataMount},
			{Name: programVolume, MountPath: member.ProgramDir, ReadOnly: true},
			{Name: stateVolume, MountPath: member.StateDir},
			{Name: permitVolume, MountPath: member.PermitDir, ReadOnly: true},
		}, tlsMounts(o)...),
	}
}

func fieldEnv(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
	}}
}

func volumes(name string, persistent bool) []corev1.Volume {
	data := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	if persistent {
		data = corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}
	}
	return []corev1.Volume{
		{Name: dataVolume, VolumeSource: data},
		{Name: programVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: stateVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: permitVolume, VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			Items: []corev1.DownwardAPIVolumeFile{{
				Path: member.PermitFile,
				FieldRef: &corev1.ObjectFieldSelector{
					APIVersion: "v1", FieldPath: fmt.Sprintf("metadata.annotations['%s']", member.PermitAnnotation),
				},
			}},
		}}},
	}
}

// Persistent reports whether members keep their data on claims of their own.
func Persistent(c *v1beta2.EtcdCluster) bool { return podPolicy(c).PersistentVolumeClaimSpec != nil }
