package etcdcluster

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

func TestRefusals(t *testing.T) {
	for title, c := range map[string]struct {
		refusal *member.Refusal
		running bool
		exit    plan.Exit
		problem string
		refused int
	}{
		"data lost": {
			&member.Refusal{Reason: member.DataLost, Message: "gone", Attempt: 2}, false, plan.ExitDataLost,
			"member-run refused to start etcd: gone", 2,
		},
		"foreign data": {
			&member.Refusal{Reason: member.ForeignData, Message: "another's"}, false, plan.ExitForeignData,
			"member-run refused to start etcd: another's", 0,
		},
		"a disk that cannot be read is no lost data": {
			&member.Refusal{Reason: member.Unreadable, Message: "input/output error"}, false, plan.ExitUnreadable,
			"member-run refused to start etcd: input/output error", 0,
		},
		"a configuration that cannot be used": {
			&member.Refusal{Reason: member.BadConfig, Message: "no such option"}, false, plan.ExitBadConfig,
			"member-run refused to start etcd: no such option", 0,
		},
		"certificates that cannot be used": {
			&member.Refusal{Reason: member.BadCertificates, Message: "peer.crt cannot be read"}, false, plan.ExitBadCertificates,
			"member-run refused to start etcd: peer.crt cannot be read", 0,
		},
		"a refusal of the past": {&member.Refusal{Reason: member.DataLost}, true, plan.ExitNone, "", 0},
		"an exit of etcd":       {nil, false, plan.ExitNone, "", 0},
	} {
		t.Run(title, func(t *testing.T) {
			pod := &corev1.Pod{}
			ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "signal: killed"}}
			if c.refusal != nil {
				text, err := c.refusal.Encode()
				if err != nil {
					t.Fatal(err)
				}
				ended.Terminated.Message = string(text)
			}
			status := corev1.ContainerStatus{Name: "etcd", LastTerminationState: ended}
			if c.running {
				status.State.Running = &corev1.ContainerStateRunning{}
			}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
			if seen := podOf(pod); seen.Exit != c.exit || seen.StartProblem != c.problem || seen.RefusedAttempt != c.refused {
				t.Errorf("exit %q, problem %q, refused %d", seen.Exit, seen.StartProblem, seen.RefusedAttempt)
			}
		})
	}
}

func TestCrashes(t *testing.T) {
	for title, c := range map[string]struct {
		log, problem string
		exit         plan.Exit
	}{
		"a damaged log": {
			`{"level":"info","msg":"x"}` + "\n" + `{"level":"fatal","msg":"discovery failed","error":"walpb: crc mismatch"}`,
			"etcd is crash-looping: discovery failed: walpb: crc mismatch", plan.ExitCorrupt,
		},
		"a damaged database": {
			"panic: assertion failed: Page expected to be: 7\n\ngoroutine 1",
			"etcd is crash-looping: panic: assertion failed: Page expected to be: 7", plan.ExitCorrupt,
		},
		"the end of a stack": {
			"go.etcd.io/bbolt.(*DB).freepages(0xc0001)\n\tgo.etcd.io/bbolt@v1.4.3/db.go:1190 +0x225\nmain.main()",
			"etcd is crash-looping: it panicked; check the container log: kubectl logs c-0 -c etcd --previous", plan.ExitCorrupt,
		},
		"a disk that is full while bbolt writes": {
			"write: no space left on device\ngo.etcd.io/bbolt.(*DB).Update(0xc0001)\n\tgo.etcd.io/bbolt@v1.4.3/db.go:1 +0x2",
			"etcd is crash-looping: it panicked; check the container log: kubectl logs c-0 -c etcd --previous", plan.ExitNone,
		},
		"no space": {
			`{"level":"fatal","msg":"cannot write","error":"no space left on device"}`,
			"etcd is crash-looping: cannot write: no space left on device", plan.ExitNone,
		},
		"a file system with errors": {
			`{"level":"fatal","msg":"discovery failed","error":"cannot access data directory: open /d/.touch: read-only file system"}`,
			"etcd is crash-looping: discovery failed: cannot access data directory: open /d/.touch: read-only file system", plan.ExitUnreadable,
		},
		"a file system with errors, and a panic": {
			`{"level":"panic","msg":"failed to open database","error":"open /d/db: read-only file system"}` +
				"\npanic: failed to open database\n\ngoroutine 1",
			"etcd is crash-looping: failed to open database: open /d/db: read-only file system", plan.ExitUnreadable,
		},
		"a client's key": {
			`{"level":"warn","msg":"apply request took too long","request":"key:\"read-only file system\""}` +
				"\n" + `{"level":"fatal","msg":"cannot write","error":"no space left on device"}`,
			"etcd is crash-looping: cannot write: no space left on device", plan.ExitNone,
		},
		"a client's key that sounds of damage": {
			`"key:\"checksum error\""}` + "\n" + `{"level":"warn","msg":"apply request took too long","request":"key:\"invalid page\""}` +
				"\n" + `{"level":"fatal","msg":"discovery failed","error":"listen tcp 0.0.0.0:2380: bind: address already in use"}`,
			"etcd is crash-looping: discovery failed: listen tcp 0.0.0.0:2380: bind: address already in use", plan.ExitNone,
		},
		"a client's key that sounds of damage, and a panic of something else": {
			`{"level":"warn","msg":"apply request took too long","request":"key:\"invalid page\""}` + "\npanic: send on closed channel",
			"etcd is crash-looping: panic: send on closed channel", plan.ExitNone,
		},
		"a client's key that sounds of a full disk": {
			`{"level":"warn","msg":"apply request took too long","request":"key:\"no space left on device\""}` +
				"\n" + `{"level":"fatal","msg":"failed to open WAL","error":"wal: crc mismatch"}`,
			"etcd is crash-looping: failed to open WAL: wal: crc mismatch", plan.ExitCorrupt,
		},
		"a user that may not write": {
			`{"level":"fatal","msg":"discovery failed","error":"cannot access data directory: open /d/.touch: permission denied"}`,
			"etcd is crash-looping: discovery failed: cannot access data directory: open /d/.touch: permission denied", plan.ExitNone,
		},
		"silence": {"", "etcd is crash-looping: no termination message; check the container log: kubectl logs c-0 -c etcd --previous", plan.ExitNone},
	} {
		t.Run(title, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-0"}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name:  "etcd",
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
				LastTerminationState: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{Message: c.log},
				},
			}}
			if seen := podOf(pod); seen.Exit != c.exit || seen.StartProblem != c.problem {
				t.Errorf("exit %q, problem %q", seen.Exit, seen.StartProblem)
			}
		})
	}
}

// TestWaitsFor says what a pod waits for that does not start.
func TestWaitsFor(t *testing.T) {
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}
	prepared := func(s corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: s}
	}
	begun := metav1.Now()
	for title, c := range map[string]struct {
		node   string
		status corev1.PodStatus
		want   string
	}{
		"new":                         {"", corev1.PodStatus{}, "no scheduler has looked at it"},
		"no node fits":                {"", corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}}, ""},
		"its node is away":            {"n1", corev1.PodStatus{Conditions: []corev1.PodCondition{scheduled}}, "the kubelet of node n1 has not accepted it"},
		"a volume is not attached":    {"n1", corev1.PodStatus{StartTime: &begun, Conditions: []corev1.PodCondition{scheduled, prepared(corev1.ConditionFalse)}}, "a volume is not attached"},
		"its containers are starting": {"n1", corev1.PodStatus{StartTime: &begun, Conditions: []corev1.PodCondition{scheduled, prepared(corev1.ConditionTrue)}}, ""},
	} {
		t.Run(title, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: c.node}, Status: c.status}
			pod.Status.Phase = corev1.PodPending
			if got := waitsFor(pod); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("it waits for %q, want %q", got, c.want)
			}
			if pod.Status.Phase = corev1.PodRunning; waitsFor(pod) != "" {
				t.Error("a running pod waits")
			}
		})
	}
}

// TestPendingForAnotherContainer: Kubernetes calls a pod pending until each of its containers was started once. If etcd runs in it, and may, it is asked.
func TestPendingForAnotherContainer(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waiting := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	}
	permit := map[string]string{member.PermitAnnotation: `{"mode":"resume"}`}
	first := func(state corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "etcd", State: state}
	}
	again := func(state corev1.ContainerState) corev1.ContainerStatus {
		ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}
		return corev1.ContainerStatus{Name: "etcd", State: state, LastTerminationState: ended}
	}
	for title, c := range map[string]struct {
		annotations map[string]string
		init        corev1.ContainerState
		etcd        corev1.ContainerStatus
		other       corev1.ContainerState
		phase       plan.Phase
		anywhere    bool
		says        string
	}{
		"etcd runs":                      {permit, running, first(running), waiting("ErrImagePull"), plan.Running, true, "container other: ErrImagePull"},
		"etcd runs, not started":         {permit, running, first(running), waiting("ContainerCreating"), plan.Running, false, ""},
		"a sidecar ends again and again": {permit, waiting("CrashLoopBackOff"), first(running), waiting("ContainerCreating"), plan.Running, false, ""},
		"etcd may not run yet":           {nil, running, first(running), waiting("ErrImagePull"), plan.Pending, true, "container other: ErrImagePull"},
		"etcd's image is missing":        {permit, running, first(waiting("ImagePullBackOff")), running, plan.Pending, true, "container etcd: ImagePullBackOff"},
		"a Secret is missing":            {permit, running, first(waiting("CreateContainerConfigError")), running, plan.Pending, true, "container etcd: CreateContainerConfigError"},
		"the first image is":             {permit, waiting("ErrImagePull"), first(waiting("PodInitializing")), waiting("PodInitializing"), plan.Pending, true, "container first: ErrImagePull"},
		"its node cannot start it again": {permit, waiting("CreateContainerError"), again(waiting("PodInitializing")), waiting("PodInitializing"), plan.Pending, false, "container first: CreateContainerError"},
		"the node cannot make it":        {permit, running, first(waiting("CreateContainerError")), running, plan.Pending, false, "container etcd: CreateContainerError"},
	} {
		t.Run(title, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}, Status: corev1.PodStatus{
				Phase:                 corev1.PodPending,
				InitContainerStatuses: []corev1.ContainerStatus{{Name: "first", State: c.init}},
				ContainerStatuses:     []corev1.ContainerStatus{c.etcd, {Name: "other", State: c.other}},
			}}
			seen := podOf(pod)
			if seen.Phase != c.phase || seen.ProblemAnywhere != c.anywhere || !strings.HasPrefix(seen.StartProblem, c.says) ||
				(c.says == "") != (seen.StartProblem == "") {
				t.Errorf("phase %v, anywhere %t, problem %q", seen.Phase, seen.ProblemAnywhere, seen.StartProblem)
			}
		})
	}
}

// TestConditions reads what the kubelet and the node controller say of a pod.
func TestConditions(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus, ago time.Duration) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(now.Add(-ago))}
	}
	notReady := func(why string) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: why}
	}
	initialized := condition(corev1.PodInitialized, corev1.ConditionTrue, time.Hour)
	for title, c := range map[string]struct {
		etcd                    bool // is ready
		conditions              []corev1.PodCondition
		ready, kubelet, sidecar bool
		prepared                time.Duration // ago
	}{
		"all is well": {true, []corev1.PodCondition{
			condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue, time.Hour), condition(corev1.PodInitialized, corev1.ConditionTrue, time.Minute),
			condition(corev1.PodReady, corev1.ConditionTrue, 0), condition(corev1.ContainersReady, corev1.ConditionTrue, 0),
		}, true, false, false, time.Minute},
		"another container is not ready": {true, []corev1.PodCondition{
			initialized, notReady("ContainersNotReady"), condition(corev1.ContainersReady, corev1.ConditionFalse, 0),
		}, false, true, true, time.Hour},
		"etcd is not": {false, []corev1.PodCondition{
			initialized, notReady("ContainersNotReady"), condition(corev1.ContainersReady, corev1.ConditionFalse, 0),
		}, false, true, false, time.Hour},
		"a readiness gate is not met": {true, []corev1.PodCondition{
			initialized, notReady("ReadinessGatesNotReady"), condition(corev1.ContainersReady, corev1.ConditionTrue, 0),
		}, false, true, false, time.Hour},
		"the node controller has not heard of its node": {true, []corev1.PodCondition{
			initialized, notReady(""), condition(corev1.ContainersReady, corev1.ConditionTrue, time.Hour),
		}, false, false, false, time.Hour},
		"its node makes it again": {false, []corev1.PodCondition{
			condition(corev1.PodReadyToStartContainers, corev1.ConditionFalse, time.Second), condition(corev1.PodInitialized, corev1.ConditionFalse, time.Minute),
			notReady(""), condition(corev1.ContainersReady, corev1.ConditionFalse, time.Hour),
		}, false, false, false, time.Second},
	} {
		t.Run(title, func(t *testing.T) {
			seen := podOf(&corev1.Pod{Status: corev1.PodStatus{
				Conditions: c.conditions, ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", Ready: c.etcd}},
			}})
			if seen.Ready != c.ready || seen.NotReadyByKubelet != c.kubelet || seen.SidecarNotReady != c.sidecar || !seen.Prepared.Equal(now.Add(-c.prepared)) {
				t.Errorf("ready %t, not ready by the kubelet %t, sidecar not ready %t, prepared %v", seen.Ready, seen.NotReadyByKubelet, seen.SidecarNotReady, seen.Prepared)
			}
		})
	}
}
