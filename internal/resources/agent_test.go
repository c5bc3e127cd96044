package resources

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// agentPod is one that backs up to S3.
func agentPod(change func(*AgentPod)) AgentPod {
	a := AgentPod{
		Namespace: "ns", Name: "nightly-1", Image: "operator:1", Labels: map[string]string{LabelBackup: "nightly"},
		Owner: metav1.OwnerReference{APIVersion: v1beta2.GroupVersion.String(), Kind: "EtcdBackup", Name: "nightly", UID: "uid"},
		Task: task.Task{
			Writer: task.Writer{Kind: "EtcdBackup", Namespace: "ns", Name: "nightly", UID: "uid"},
			Storage: v1beta2.Storage{
				URL: "s3://bucket/folder", CredentialsSecretRef: v1beta2.SecretRef{Name: "s3"}, Endpoint: "https://minio:9000",
				CABundleRef: v1beta2.CABundleRef{Name: "authority"},
			},
			Timeout: time.Hour, Backup: &task.Backup{Endpoints: []string{"http://etcd:2379"}, Compress: true},
		},
	}
	change(&a)
	return a
}

func onClaim(a *AgentPod) {
	a.Task.Storage = v1beta2.Storage{URL: "file:///backups", PersistentVolumeClaim: "nfs"}
}

// agentPods are one of each kind.
var agentPods = map[string]func(*AgentPod){
	"agent-backup": func(*AgentPod) {},
	"agent-everything": func(a *AgentPod) {
		a.KeySecret, a.ClientTLSSecret, a.Task.Encrypted, a.Task.Backup.TLS = "passphrase", "client", true, true
		a.Task.Backup.Verify = v1beta2.VerifyRestore
		a.Task.Storage.CABundleRef = v1beta2.CABundleRef{Kind: v1beta2.CABundleConfigMap, Name: "trust", Key: "bundle.pem"}
		a.Policy = &v1beta2.AgentPodPolicy{
			Labels: map[string]string{"team": "a", LabelBackup: "x"}, Annotations: map[string]string{"note": "b"},
			ServiceAccountName: "uploader", NodeSelector: map[string]string{"disk": "fast"}, PriorityClassName: "low",
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}},
			Tolerations:      []corev1.Toleration{{Key: "backup", Operator: corev1.TolerationOpExists}},
			Resources:        corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}},
			Scratch: &corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")},
			}},
		}
	},
	"agent-verify": func(a *AgentPod) {
		onClaim(a)
		a.Labels = map[string]string{LabelRestore: "back"}
		a.Task.Backup, a.Task.Verify = nil, &task.Verify{EtcdVersion: "3.6.16"}
	},
	"agent-verify-identity": func(a *AgentPod) {
		onClaim(a)
		a.KeySecret, a.Task.Identity = "identity", true
		a.Task.Backup, a.Task.Verify = nil, &task.Verify{EtcdVersion: "3.6.16"}
	},
	"agent-recipients": func(a *AgentPod) {
		a.Task.Recipients = []string{"age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"}
	},
	"agent-login": func(a *AgentPod) {
		a.Task.Backup.Login = &v1beta2.SecretKeyRef{Name: "old", Key: "etcd-root-password"}
	},
	"agent-proxy": func(a *AgentPod) {
		a.Env = []corev1.EnvVar{{Name: "HTTPS_PROXY", Value: "http://proxy:3128"}, {Name: "NO_PROXY", Value: ".svc"}}
	},
	"agent-no-spool": func(a *AgentPod) {
		a.Policy = &v1beta2.AgentPodPolicy{Spool: resource.NewQuantity(0, resource.BinarySI)}
	},
	"agent-clean": func(a *AgentPod) {
		onClaim(a)
		a.Task.Backup, a.Task.Clean = nil, &task.Clean{}
	},
}

func TestGoldenAgentPods(t *testing.T) {
	for name, change := range agentPods {
		t.Run(name, func(t *testing.T) { golden(t, name, mustPod(t, agentPod(change))) })
	}
	t.Run("agent-restore", func(t *testing.T) { golden(t, "agent-restore", restorePod(t)) })
}

func mustPod(t *testing.T, a AgentPod) *corev1.Pod {
	t.Helper()
	pod, err := a.Pod()
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// restorePod is a member's pod that restores first.
func restorePod(t *testing.T) *corev1.Pod {
	t.Helper()
	made := agentPod(onClaim).Task
	made.Backup, made.Restore = nil, &task.Restore{Object: "o", SHA256: "s", Folder: "/var/etcd/data", EtcdVersion: "3.6.16"}
	container, volumes, err := restoreContainer("operator:1", nil, made, "passphrase")
	if err != nil {
		t.Fatal(err)
	}
	pod := build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, options)
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
	pod.Spec.Volumes = append(pod.Spec.Volumes, volumes...)
	return pod
}

// TestAgentPodTask reads the task as the agent does.
func TestAgentPodTask(t *testing.T) {
	a := agentPod(agentPods["agent-everything"])
	got := task.Task{}
	if err := json.Unmarshal([]byte(mustPod(t, a).Spec.Containers[0].Env[0].Value), &got); err != nil {
		t.Fatal(err)
	}
	want := withSpool(a.Task, a.Policy)
	if want.Backup.Spool != defaultSpool || a.Task.Backup.Spool != 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("the pod's task is %+v, want %+v", got, want)
	}
}

func TestStorageOf(t *testing.T) {
	byURL := &v1beta2.Storage{URL: "gs://b/f", CredentialsSecretRef: v1beta2.SecretRef{Name: "s"}}
	for title, c := range map[string]struct {
		storage *v1beta2.Storage
		kind    v1beta2.StorageType
		legacy  v1beta2.BackupStorage
		want    v1beta2.Storage
		object  string
	}{
		"by URL": {byURL, "", v1beta2.BackupStorage{}, *byURL, ""},
		"s3": {
			nil, "S3",
			v1beta2.BackupStorage{S3: &v1beta2.S3Storage{Path: "b/f/k", AWSSecret: "s", Endpoint: "http://m:9", ForcePathStyle: true}},
			v1beta2.Storage{URL: "s3://b/f", CredentialsSecretRef: v1beta2.SecretRef{Name: "s"}, Endpoint: "http://m:9", ForcePathStyle: true},
			"k",
		},
		"gcs": {
			nil, "GCS",
			v1beta2.BackupStorage{GCS: &v1beta2.GCSStorage{Path: "b/k", GCPSecret: "s"}},
			v1beta2.Storage{URL: "gs://b/", CredentialsSecretRef: v1beta2.SecretRef{Name: "s"}},
			"k",
		},
		"abs": {
			nil, "ABS",
			v1beta2.BackupStorage{ABS: &v1beta2.ABSStorage{Path: "b/k", ABSSecret: "s"}},
			v1beta2.Storage{URL: "azblob://b/", CredentialsSecretRef: v1beta2.SecretRef{Name: "s"}},
			"k",
		},
		"oss": {
			nil, "OSS",
			v1beta2.BackupStorage{OSS: &v1beta2.OSSStorage{Path: "b/k", OSSSecret: "s"}},
			v1beta2.Storage{
				URL: "s3://b/", CredentialsSecretRef: v1beta2.SecretRef{Name: "s"}, Endpoint: "https://s3.oss-cn-hangzhou.aliyuncs.com", Region: "cn-hangzhou",
			},
			"k",
		},
		"no key":  {nil, "S3", v1beta2.BackupStorage{S3: &v1beta2.S3Storage{Path: "b"}}, v1beta2.Storage{}, ""},
		"nothing": {nil, "", v1beta2.BackupStorage{}, v1beta2.Storage{}, ""},
	} {
		got, object, err := StorageOf(c.storage, c.kind, c.legacy)
		if got != c.want || object != c.object || (err != nil) != (c.want.URL == "") {
			t.Errorf("%s: got %+v, %q, %v", title, got, object, err)
		}
	}
}

// ended is a container that has ended.
func ended(name string, exit int32, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Reason: reason, Message: message},
	}}
}

func TestAgentResult(t *testing.T) {
	const failure = `{"failure":{"reason":"StorageFull","message":"m"}}`
	again := ended(RestoreContainerName, 1, "Error", failure)
	again.LastTerminationState, again.State = again.State, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	running := again
	running.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for title, c := range map[string]struct {
		status corev1.ContainerStatus
		ok     bool
		reason string
	}{
		"done":              {ended(AgentContainer, 0, "Completed", `{"total":3}`), true, ""},
		"failed":            {ended(AgentContainer, 1, "Error", failure), true, v1beta2.ReasonStorageFull},
		"killed":            {ended(AgentContainer, 137, "OOMKilled", ""), false, ""},
		"a log":             {ended(AgentContainer, 2, "Error", "panic: x"), false, ""},
		"not begun":         {corev1.ContainerStatus{}, false, ""},
		"to be tried again": {again, true, v1beta2.ReasonStorageFull},
		"tried again":       {running, false, ""},
	} {
		result, ok := InitResult(c.status)
		if ok != c.ok || c.reason != "" && result.Failure.Reason != c.reason {
			t.Errorf("%s: got %+v, %v", title, result, ok)
		}
	}
	pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		ended("sidecar", 0, "", `{"total":1}`), ended(AgentContainer, 0, "", `{"total":3}`),
	}}}
	if result, ok := AgentResult(pod); !ok || result.Total != 3 {
		t.Errorf("got %+v, %v", result, ok)
	}
}

func TestAgentProblem(t *testing.T) {
	of := func(s corev1.ContainerStatus) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{s}}
	}
	waiting := func(reason string) corev1.PodStatus {
		return of(corev1.ContainerStatus{Name: AgentContainer, State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "of that"},
		}})
	}
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) corev1.PodStatus {
		return corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: kind, Status: status, Reason: reason, Message: "of that"}}}
	}
	evicted := of(ended(AgentContainer, 137, "Error", ""))
	evicted.Phase, evicted.Reason, evicted.Message = corev1.PodFailed, "Evicted", "ephemeral-storage"
	for title, c := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"new":            {corev1.PodStatus{}, ""},
		"starting":       {waiting("ContainerCreating"), ""},
		"image":          {waiting("ImagePullBackOff"), "does not start: ImagePullBackOff: of that"},
		"unschedulable":  {condition(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable), "the pod cannot be scheduled: of that"},
		"scheduled":      {condition(corev1.PodScheduled, corev1.ConditionTrue, ""), ""},
		"preempted":      {condition(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler"), "PreemptionByScheduler: of that"},
		"evicted":        {evicted, "Evicted: ephemeral-storage"},
		"out of memory":  {of(ended(AgentContainer, 137, "OOMKilled", "")), "spec.pod.resources.limits.memory"},
		"a panic":        {of(ended(AgentContainer, 2, "Error", "{}\npanic: index\n\ngoroutine 1")), "exited with code 2 and left no result: panic: index"},
		"no word":        {of(ended(AgentContainer, 137, "", "")), "check its log"},
		"with a result":  {of(ended(AgentContainer, 0, "Completed", `{"total":3}`)), ""},
		"with a failure": {of(ended(AgentContainer, 1, "Error", `{"failure":{"reason":"StorageFull","message":"m"}}`)), ""},
	} {
		got := AgentProblem(&corev1.Pod{Status: c.status})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", title, got, c.want)
		}
	}
}
