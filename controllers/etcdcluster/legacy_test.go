package etcdcluster_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// legacyMembers are named as two releases of coreos/etcd-operator did.
var legacyMembers = []string{"heritage-0000", "heritage-pqr7x2kd9s"}

// leaveLegacy stores what coreos/etcd-operator has left, before this operator starts.
func (e *env) leaveLegacy(t *testing.T) {
	t.Helper()
	for _, name := range []string{"heritage", "ashes", "asleep"} {
		e.cluster(t, name, v1beta2.EtcdClusterSpec{Size: 3, Version: "3.5.35", Paused: name == "asleep"})
		e.legacyStatus(t, name)
	}
	owner := resources.Owner(e.read(t, "heritage"))
	for i, name := range legacyMembers {
		pod := legacyPod(name, owner)
		if i > 0 { // the EtcdCluster was deleted without its pods, and recreated
			pod.OwnerReferences = nil
		}
		must(t, e.Create(t.Context(), pod))
		e.runs(t, pod, fmt.Sprintf("127.0.0.%d", 80+i))
	}
	must(t, e.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "heritage-client", OwnerReferences: []metav1.OwnerReference{owner},
		},
		Spec: corev1.ServiceSpec{
			Selector: resources.ClusterSelector("heritage"), Ports: []corev1.ServicePort{{Name: "client", Port: 2379}},
		},
	}))
}

func (e *env) legacyStatus(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile("../../api/v1beta2/testdata/legacy_status.yaml")
	must(t, err)
	status := map[string]any{}
	must(t, yaml.Unmarshal(text, &status))
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("EtcdCluster"))
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object))
	object.Object["status"] = status
	must(t, e.Status().Update(t.Context(), object))
}

// legacyPod has the metadata that coreos/etcd-operator gave its pods, in a shape that the namespace admits.
func legacyPod(name string, owner metav1.OwnerReference) *corev1.Pod {
	yes, no := true, false
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{owner},
			Labels:      map[string]string{"app": "etcd", "etcd_cluster": "heritage", "etcd_node": name},
			Annotations: map[string]string{"etcd.version": "3.5.35"},
		},
		Spec: corev1.PodSpec{
			Hostname: name, Subdomain: "heritage", RestartPolicy: corev1.RestartPolicyNever,
			AutomountServiceAccountToken: &no,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "etcd", Image: "quay.io/coreos/etcd:v3.5.35",
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// legacyAlive wants nothing to be touched of a cluster that coreos/etcd-operator runs, not even for a restore. Once the user
// has taken its pods away that one is carried out.
func (e *env) legacyAlive(t *testing.T) {
	e.says(t, "heritage", v1beta2.ReasonLegacyMembers, strings.Join(legacyMembers, ", "))
	restore := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "heritage-back"},
		Spec: v1beta2.EtcdRestoreSpec{
			EtcdCluster: v1beta2.EtcdClusterRef{Name: "heritage"}, RestoreSource: v1beta2.RestoreSource{Storage: bucket.DeepCopy()},
		},
	}
	must(t, e.Create(t.Context(), restore))
	e.verified(t, restore)
	object := e.edit(t, "heritage", func(spec *v1beta2.EtcdClusterSpec) { spec.Size = 5 })
	await(t, "the edit is seen", func() error {
		if s := e.read(t, "heritage").Status; s.ObservedGeneration != object.Generation || s.Bootstrap != nil || s.ClusterID != "" {
			return fmt.Errorf("status %+v", s)
		}
		return nil
	})
	for _, pod := range e.podsOf(t, "heritage", 2) {
		if _, serves := pod.Labels[resources.LabelServing]; serves || pod.DeletionTimestamp != nil {
			t.Errorf("pod %s was changed: %+v", pod.Name, pod.ObjectMeta)
		}
	}
	service := &corev1.Service{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "heritage-client"}, service))
	if len(service.Spec.Selector) != len(resources.ClusterSelector("heritage")) {
		t.Errorf("the Service selects %v", service.Spec.Selector)
	}
	err := e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "heritage"}, &corev1.Service{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("a Service was made beside them: %v", err)
	}
	for _, name := range legacyMembers {
		must(t, e.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}))
	}
	e.restoring(t, "heritage", restore, 900) // the snapshot's own
}

// legacyBeside wants a pod that coreos/etcd-operator makes for a cluster of this operator's neither to be taken for a member nor
// deleted, and the cluster to be reconciled all the same.
func (e *env) legacyBeside(t *testing.T) {
	e.cluster(t, "beside", v1beta2.EtcdClusterSpec{Size: 1})
	e.podsOf(t, "beside", 1)
	pod := legacyPod("beside-x2kd9s", resources.Owner(e.read(t, "beside")))
	pod.Labels["etcd_cluster"] = "beside"
	must(t, e.Create(t.Context(), pod))
	e.edit(t, "beside", func(spec *v1beta2.EtcdClusterSpec) { spec.Size = 3 })
	e.podsOf(t, "beside", 4)
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	if _, permitted := pod.Annotations[member.PermitAnnotation]; permitted || pod.DeletionTimestamp != nil {
		t.Errorf("it is %+v", pod.ObjectMeta)
	}
}

// legacyGone wants no cluster to start from nothing where clients had their data, and one where the user says so.
func (e *env) legacyGone(t *testing.T) {
	e.says(t, "ashes", v1beta2.ReasonRanBefore, "EtcdRestore")
	e.says(t, "asleep", v1beta2.ReasonPaused, "")
	e.edit(t, "asleep", func(spec *v1beta2.EtcdClusterSpec) { spec.Paused = false })
	e.says(t, "asleep", v1beta2.ReasonRanBefore, "create it again")
	e.podsOf(t, "ashes", 0)
	e.podsOf(t, "asleep", 0)

	must(t, e.Delete(t.Context(), e.read(t, "ashes")))
	e.cluster(t, "ashes", v1beta2.EtcdClusterSpec{Size: 3})
	e.podsOf(t, "ashes", 3)
}

// mendedConfig wants a pod that may start, and cannot be configured, to be recreated once the spec is corrected.
func (e *env) mendedConfig(t *testing.T) {
	e.cluster(t, "typo", v1beta2.EtcdClusterSpec{Size: 1})
	pod := e.podsOf(t, "typo", 1)[0]
	e.runs(t, &pod, "127.0.0.70")
	await(t, "its permit", func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(&pod), &pod))
		_, err := member.ParsePermit(pod.Annotations[member.PermitAnnotation])
		return err
	})
	words, err := (&member.Refusal{Reason: member.BadConfig, Message: "etcd's option is not known"}).Encode()
	must(t, err)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  resources.EtcdContainer,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: string(words)},
		},
	}}
	must(t, e.Status().Update(t.Context(), &pod))
	e.says(t, "typo", v1beta2.ReasonPodCannotStart, "option is not known")

	e.edit(t, "typo", func(spec *v1beta2.EtcdClusterSpec) {
		spec.Pod = &v1beta2.PodPolicy{NodeSelector: map[string]string{"corrected": "yes"}}
	})
	await(t, "a pod of the corrected spec", func() error {
		now := e.podsOf(t, "typo", 1)[0]
		if now.UID == pod.UID || now.Spec.NodeSelector["corrected"] != "yes" {
			return fmt.Errorf("pod %s (was %s) with %v", now.UID, pod.UID, now.Spec.NodeSelector)
		}
		return nil
	})
}

// editedWhileAway wants pods that were lost together with an edit, while the operator was away, to be recreated from the spec
// before it: the edit reaches a member by an update only.
func (e *env) editedWhileAway(t *testing.T) {
	volume := &corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
	}}
	spec := v1beta2.EtcdClusterSpec{
		Size: 1, Version: "3.6.16", Paused: true, Pod: &v1beta2.PodPolicy{PersistentVolumeClaimSpec: volume},
	}
	e.cluster(t, "away", spec)
	e.says(t, "away", v1beta2.ReasonPaused, "")
	object := e.read(t, "away")
	before, err := resources.RevisionOf(object, resources.PodOptions{OperatorImage: "operator:test"})
	must(t, err)
	claim := resources.Volume(object, "away-0", 1)
	for key, value := range map[string]string{
		resources.AnnotationClusterID: "00000000000000c1", resources.AnnotationMemberID: "00000000000000a0",
		resources.AnnotationVersion: "3.6.16", resources.AnnotationTemplate: before.Template,
	} {
		claim.Annotations[key] = value
	}
	must(t, e.Create(t.Context(), claim))
	await(t, "a cluster that has been up", func() error {
		object = e.read(t, "away")
		object.Status.ClusterID = "00000000000000c1"
		return e.Status().Update(t.Context(), object)
	})
	await(t, "the edit", func() error { // the pause was the operator's absence: both end with it
		object = e.read(t, "away")
		object.Spec.Paused = false
		object.Spec.Pod.NodeSelector = map[string]string{"no-such": "node"}
		return e.Update(t.Context(), object)
	})
	pod := e.podsOf(t, "away", 1)[0]
	if len(pod.Spec.NodeSelector) > 0 || pod.Annotations[resources.AnnotationTemplate] != before.Template {
		t.Errorf("the pod is made from the edit: %v", pod.Spec.NodeSelector)
	}
}

// edit changes the spec, whatever the operator writes meanwhile.
func (e *env) edit(t *testing.T, name string, change func(*v1beta2.EtcdClusterSpec)) *v1beta2.EtcdCluster {
	t.Helper()
	object := e.read(t, name)
	before := object.DeepCopy()
	change(&object.Spec)
	must(t, e.Patch(t.Context(), object, client.MergeFrom(before)))
	return object
}
