package resources

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/storage"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Labels of the agent's pods: the name of the EtcdBackup or EtcdRestore.
const (
	LabelBackup  = "etcd.database.coreos.com/backup"
	LabelRestore = "etcd.database.coreos.com/restore"
)

// Names of the containers that the agent runs in: in a pod of its own, and before a member's first start.
const (
	AgentContainer       = "agent"
	RestoreContainerName = "restore"
)

// AgentPod describes a pod of the agent.
type AgentPod struct {
	Namespace, Name string
	Owner           metav1.OwnerReference
	// Labels are added: LabelBackup or LabelRestore with the object's name.
	Labels map[string]string
	Task   task.Task
	// Policy may be nil.
	Policy *v1beta2.AgentPodPolicy
	// KeySecret and ClientTLSSecret name Secrets, empty for none; the storage's are in Task.Storage. KeySecret has the passphrase or
	// the identities, as the task says.
	KeySecret, ClientTLSSecret string
	// Image is the operator's own.
	Image string
	// Env is the environment for reaching object storage through a proxy; empty without one.
	Env []corev1.EnvVar
	// OpenShift leaves user and group to the namespace's security context constraints.
	OpenShift bool
}

// Pod returns the pod. It runs once; another attempt is another pod.
func (a AgentPod) Pod() (*corev1.Pod, error) {
	policy := a.Policy
	if policy == nil {
		policy = &v1beta2.AgentPodPolicy{}
	}
	t := withSpool(a.Task, policy)
	needs := needsOf(t, a.KeySecret, a.ClientTLSSecret)
	env := a.Env
	if scratches(t) {
		needs.add(scratchVolume(policy.Scratch, t), task.ScratchDir, false)
	}
	if spools(t) && policy.Scratch == nil {
		env = append(slices.Clone(env), roomVariable())
	}
	container, err := agentContainer(AgentContainer, a.Image, env, t, needs)
	if err != nil {
		return nil, err
	}
	container.Resources = agentResources(policy.Resources)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.Namespace, Name: a.Name, OwnerReferences: []metav1.OwnerReference{a.Owner},
			Labels: merge(policy.Labels, a.Labels, agentLabels()), Annotations: policy.Annotations,
		},
		Spec: a.spec(policy, container, needs.volumes),
	}, nil
}

func agentLabels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "etcd-operator", "app.kubernetes.io/component": "agent",
		"app.kubernetes.io/managed-by": FieldOwner,
	}
}

func (a AgentPod) spec(policy *v1beta2.AgentPodPolicy, container corev1.Container, volumes []corev1.Volume) corev1.PodSpec {
	no := false
	// Kubernetes accepts no more, which is less than the longest timeout.
	grace, deadline := int64(graceSeconds), int64(min((a.Task.Timeout+lastWordsTime).Seconds(), math.MaxInt32))
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		ActiveDeadlineSeconds:         &deadline,
		TerminationGracePeriodSeconds: &grace,
		AutomountServiceAccountToken:  &no,
		EnableServiceLinks:            &no,
		SecurityContext:               securityContext(&v1beta2.PodPolicy{}, PodOptions{OpenShift: a.OpenShift}),
		ServiceAccountName:            policy.ServiceAccountName,
		ImagePullSecrets:              policy.ImagePullSecrets,
		PriorityClassName:             policy.PriorityClassName,
		NodeSelector:                  policy.NodeSelector,
		Affinity:                      policy.Affinity,
		Tolerations:                   policy.Tolerations,
		Containers:                    []corev1.Container{container},
		Volumes:                       volumes,
	}
}

// lastWordsTime is how long the agent has after its timeout to clean up and write its result, before Kubernetes kills it.
const lastWordsTime = time.Minute

// scratches reports whether a task may use scratch space.
func scratches(t task.Task) bool { return restores(t) || spools(t) }

// restores reports whether a task may restore into it. A Verify may need to, even if its spec does not say so.
func restores(t task.Task) bool {
	return t.Verify != nil || t.Backup != nil && t.Backup.Verify == v1beta2.VerifyRestore
}

// spools reports whether a task may buffer a backup there.
func spools(t task.Task) bool { return t.Backup != nil && t.Backup.Spool > 0 }

// defaultSpool holds a database of 2 GiB, etcd's default quota, that compresses to half of it.
const defaultSpool = 1 << 30

func withSpool(t task.Task, policy *v1beta2.AgentPodPolicy) task.Task {
	if t.Backup == nil {
		return t
	}
	b := *t.Backup
	b.Spool = defaultSpool
	if policy.Spool != nil {
		b.Spool = policy.Spool.Value()
	}
	t.Backup = &b
	return t
}

// roomVariable passes the container's limit of ephemeral storage to the agent. The limit may come from the namespace.
func roomVariable() corev1.EnvVar {
	return corev1.EnvVar{Name: task.EnvRoom, ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
		ContainerName: AgentContainer, Resource: "limits.ephemeral-storage",
	}}}
}

// restoreContainer returns the init container that restores a member's data, and the volumes that it needs. The caller adds the mount
// of the member's data volume, and resources.
func restoreContainer(image string, env []corev1.EnvVar, t task.Task, keySecret string) (
	corev1.Container, []corev1.Volume, error,
) {
	needs := needsOf(t, keySecret, "")
	container, err := agentContainer(RestoreContainerName, image, env, t, needs)
	return container, needs.volumes, err
}

func agentContainer(name, image string, env []corev1.EnvVar, t task.Task, needs *agentNeeds) (corev1.Container, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return corev1.Container{}, fmt.Errorf("encode the agent's task: %w", err)
	}
	return corev1.Container{
		Name:            name,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{task.Program},
		Env:             append([]corev1.EnvVar{{Name: task.EnvTask, Value: string(text)}}, env...),
		Ports: []corev1.ContainerPort{
			{Name: "progress", ContainerPort: task.ProgressPort, Protocol: corev1.ProtocolTCP},
		},
		SecurityContext:          containerSecurity(),
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             needs.mounts,
	}, nil
}

// agentResources suffice for a database of any size, because it is streamed. A trial restore takes memory for all keys, so there is
// no limit.
func agentResources(given corev1.ResourceRequirements) corev1.ResourceRequirements {
	if len(given.Requests)+len(given.Limits)+len(given.Claims) > 0 {
		return given
	}
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
	}}
}

// StorageOf is a spec's storage, by URL or in coreos/etcd-operator's form; object is the last part of the path in that form (an
// object's name, or the prefix of names), empty for storage by URL.
func StorageOf(
	s *v1beta2.Storage, kind v1beta2.StorageType, legacy v1beta2.BackupStorage,
) (of v1beta2.Storage, object string, err error) {
	if s != nil {
		return *s, "", nil
	}
	return storage.FromLegacy(kind, legacy)
}
