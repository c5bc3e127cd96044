package etcdcluster

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestTrimPod checks that an observation of a trimmed pod is that of the whole one.
func TestTrimPod(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c", UID: "u"}}
	options := resources.PodOptions{
		OperatorImage: "operator", EtcdVersion: "3.6.16", Persistent: true, Trust: "c-trust-1",
		Transport: member.Transport{PeerTLS: true, ClientTLS: true, PeerPort: member.OtherPeerPort},
	}
	permit := &member.Permit{Mode: member.ModeResume, ClusterID: 1, MemberID: 2}
	pod, err := resources.Pod(c, "c-0", 1, permit, options)
	if err != nil {
		t.Fatal(err)
	}
	pod.UID, pod.Spec.NodeName, pod.Labels[resources.LabelServing] = "p", "node", "true"
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	some := func(amount string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			list[name] = resource.MustParse(amount)
		}
		return list
	}
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: some("1Gi"), Limits: some("2Gi")}
	pod.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}}
	pod.Generation = 8
	injected := corev1.Container{Name: "injected", Image: "mesh:v9", Resources: corev1.ResourceRequirements{Limits: some("3Gi")}}
	pod.Spec.Containers = append([]corev1.Container{injected}, pod.Spec.Containers...)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1", ObservedGeneration: 7,
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Unix(1, 0)),
		}},
		InitContainerStatuses: []corev1.ContainerStatus{{
			Name: resources.RestoreContainerName, RestartCount: 3,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Unix(1, 0))}},
		}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: resources.EtcdContainer, ContainerID: "id", Image: "etcd:old",
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "checksum error"}},
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			VolumeMounts:         []corev1.VolumeMountStatus{{Name: "data", MountPath: "/var/lib/etcd"}},
		}},
	}
	revision, err := resources.RevisionOf(c, options)
	if err != nil {
		t.Fatal(err)
	}
	whole, drift := podOf(pod), revision.Drift(pod, "")
	if !whole.Unseen || !whole.ResizeRestarts || whole.Requests.Memory != 1<<30 || whole.StorageLimit != 5<<30 {
		t.Fatalf("the whole pod: %+v", whole)
	}
	small := controllertest.Trimmed(t, pod)
	if got := podOf(small); !reflect.DeepEqual(got, whole) {
		t.Errorf("trimmed: %+v\nwhole: %+v", got, whole)
	}
	if got := revision.Drift(small, ""); got != drift {
		t.Errorf("drift of the trimmed pod: %+v, of the whole: %+v", got, drift)
	}
	if whole.Transport != options.Transport {
		t.Errorf("the observation lacks what the member serves: %+v", whole.Transport)
	}
	if whole.Exit == plan.ExitNone || whole.StartProblem == "" {
		t.Errorf("the observation lacks the container's end: %+v", whole)
	}
	if small.Size() > pod.Size()*2/3 {
		t.Errorf("of %d bytes %d are left", pod.Size(), small.Size())
	}
}

// TestTrimService checks that nothing is lost of a cluster's Service, and that of others its owner is known.
func TestTrimService(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c", UID: "u"}}
	want := resources.ClientService(c)
	if resources.ServiceDue(controllertest.Trimmed(t, want), want) {
		t.Error("a trimmed Service differs from what is wanted")
	}
	foreign := want.DeepCopy()
	foreign.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Gateway", Name: "g", Controller: new(true)}}
	conflict := conflictOf("Service", foreign, c)
	small := controllertest.Trimmed(t, foreign)
	if got := conflictOf("Service", small, c); conflict == nil || got == nil || *got != *conflict {
		t.Errorf("conflict with the trimmed Service: %+v, with the whole: %+v", got, conflict)
	}
	if small.Size() > 100 {
		t.Errorf("%d bytes are left of a stranger's Service", small.Size())
	}
}

// TestTrimPolicy checks that nothing is lost of a cluster's NetworkPolicy, and that of others its owner is known.
func TestTrimPolicy(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c", UID: "u"}}
	want := resources.NetworkPolicy(c, v1beta2.NetworkPolicyPeers, resources.OperatorPods{})
	if resources.NetworkPolicyDue(controllertest.Trimmed(t, want), want) {
		t.Error("a trimmed NetworkPolicy differs from what is wanted")
	}
	foreign := want.DeepCopy()
	foreign.OwnerReferences = nil
	conflict := conflictOf("NetworkPolicy", foreign, c)
	small := controllertest.Trimmed(t, foreign)
	if got := conflictOf("NetworkPolicy", small, c); conflict == nil || got == nil || *got != *conflict {
		t.Errorf("conflict with the trimmed NetworkPolicy: %+v, with the whole: %+v", got, conflict)
	}
	if small.Size() > 100 {
		t.Errorf("%d bytes are left of a stranger's NetworkPolicy", small.Size())
	}
}

// TestTrimBudget checks that an observation of a trimmed budget is that of the whole one.
func TestTrimBudget(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c", UID: "u"}}
	settled := resources.Budget(c, 2)
	settled.Generation, settled.Status.ObservedGeneration = 3, 3
	stale, evicting := settled.DeepCopy(), settled.DeepCopy()
	stale.Generation = 4
	evicting.Status.DisruptedPods = map[string]metav1.Time{"c-0": metav1.Now()}
	for _, budget := range []*policyv1.PodDisruptionBudget{settled, stale, evicting} {
		want := budgetOf(budget)
		if got := budgetOf(controllertest.Trimmed(t, budget)); got != want || got.MinAvailable != 2 {
			t.Errorf("trimmed: %+v, whole: %+v", got, want)
		}
	}
}
