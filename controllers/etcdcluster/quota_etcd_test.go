package etcdcluster_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestFullQuota fills a real etcd of one member up to its quota, without Auto Pilot, and makes room as the runbook says: the conditions say so, one event tells
// when it begins and one when it ends, and nothing is written while nothing changes.
func TestFullQuota(t *testing.T) {
	const apart = 230
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "full"}
	w.addresses["full-0"] = controllertest.Loopback(apart) // another process cannot bind one that other tests have served at
	quota := resource.MustParse("16Mi")
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Spec: v1beta2.EtcdClusterSpec{
			Size: 1, Etcd: &v1beta2.EtcdOptions{QuotaBackendBytes: &quota}, Autopilot: &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOff},
		},
	}))
	etcd := w.runsEtcd(t, name, quota.Value())
	w.told()

	fill(t, etcd, 1<<20, big)
	w.settles(t, name, v1beta2.ReasonNoSpace, metav1.ConditionFalse)
	c := w.says(t, name, v1beta2.ConditionAvailable)
	if !strings.Contains(c.Message, "At its quota: full-0 (") || !strings.Contains(c.Message, "Mi of 16Mi, ") || !strings.Contains(c.Message, "defragment") {
		t.Errorf("it says: %s", c.Message)
	}
	for _, kind := range []string{v1beta2.ConditionDegraded, v1beta2.ConditionReady} {
		if got := w.says(t, name, kind); got.Reason != v1beta2.ReasonNoSpace || (got.Status == metav1.ConditionTrue) != (kind == v1beta2.ConditionDegraded) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	w.tells(t, "Warning NoSpace etcd refuses every write but deletions")

	deleted, err := etcd.Delete(t.Context(), "", clientv3.WithPrefix())
	must(t, err)
	_, err = etcd.Compact(t.Context(), deleted.Header.Revision, clientv3.WithCompactPhysical())
	must(t, err)
	_, err = etcd.Defragment(t.Context(), etcd.Endpoints()[0])
	must(t, err)
	w.settles(t, name, v1beta2.ReasonNoSpace, metav1.ConditionFalse)
	if c := w.says(t, name, v1beta2.ConditionAvailable); !strings.Contains(c.Message, "There is room again: run etcdctl alarm disarm") {
		t.Errorf("with room it says: %s", c.Message)
	}
	w.tells(t)

	_, err = etcd.AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
	must(t, err)
	w.settles(t, name, v1beta2.ReasonHasQuorum, metav1.ConditionTrue)
	if got := w.says(t, name, v1beta2.ConditionReady); got.Status != metav1.ConditionTrue {
		t.Errorf("Ready: %+v", got)
	}
	w.tells(t, "Normal AlarmDisarmed etcd has no alarm any more", "Normal SpecReached")
}

// fill writes values of that size to keys of these names until there is no space.
func fill(t *testing.T, etcd *clientv3.Client, size int, name func(int) string) {
	t.Helper()
	const most = 100 << 20
	for i := range most / size {
		_, err := etcd.Put(t.Context(), name(i), strings.Repeat("x", size))
		if errors.Is(err, rpctypes.ErrNoSpace) {
			return
		}
		must(t, err)
	}
	t.Fatalf("there is room for %d bytes", most)
}

// big are the names of keys that nothing overwrites.
func big(i int) string { return fmt.Sprintf("big/%d", i) }

// runsEtcd has the cluster run on a real etcd, and returns a client of it.
func (w *idleWorld) runsEtcd(t *testing.T, name types.NamespacedName, quota int64) *clientv3.Client {
	t.Helper()
	pod, started := &corev1.Pod{}, false
	key := types.NamespacedName{Namespace: name.Namespace, Name: name.Name + "-0"}
	address := w.address(key.Name)
	deadline := time.Now().Add(time.Minute)
	for w.says(t, name, v1beta2.ConditionReady).Status != metav1.ConditionTrue {
		if time.Now().After(deadline) {
			t.Fatal("the cluster does not come up")
		}
		w.looks(t, name)
		if err := w.api.Get(t.Context(), key, pod); err != nil {
			continue
		}
		pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, address
		if text := pod.Annotations[member.PermitAnnotation]; text != "" && !started {
			permit, err := member.ParsePermit(text)
			must(t, err)
			runEtcd(t, address, permit, quota)
			started = true
		}
		if started {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		must(t, w.api.Status().Update(t.Context(), pod))
	}
	must(t, w.api.Get(t.Context(), key, pod))
	if permit, err := member.ParsePermit(pod.Annotations[member.PermitAnnotation]); err != nil || permit.Mode != member.ModeResume {
		t.Errorf("a member that serves may still start on an empty directory: %+v, %v", permit, err)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{net.JoinHostPort(address, strconv.Itoa(member.ClientPort))}, Logger: zap.NewNop(),
	})
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// runEtcd runs the etcd of TEST_ASSET_ETCD as the permit says.
func runEtcd(t *testing.T, address string, permit *member.Permit, quota int64) {
	t.Helper()
	program := os.Getenv("TEST_ASSET_ETCD")
	if program == "" {
		t.Fatal("TEST_ASSET_ETCD is not set: run this with `make test-unit`")
	}
	at := func(port int) string { return "http://" + net.JoinHostPort(address, strconv.Itoa(port)) }
	name, url, _ := strings.Cut(permit.InitialCluster, "=")
	//nolint:noctx // it ends with the test, whose context ends too early
	server := exec.Command(program, "--name="+name, "--data-dir="+filepath.Join(t.TempDir(), "data"),
		"--listen-client-urls="+at(member.ClientPort), "--advertise-client-urls="+at(member.ClientPort), "--listen-peer-urls="+at(member.PeerPort),
		"--listen-metrics-urls="+at(member.MetricsPort),
		"--initial-advertise-peer-urls="+url, "--initial-cluster="+permit.InitialCluster, "--initial-cluster-token="+permit.Token,
		fmt.Sprintf("--quota-backend-bytes=%d", quota), "--unsafe-no-fsync", "--log-level=error")
	server.Stderr = t.Output()
	must(t, server.Start())
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
}

// settles looks until Available is so, and wants nothing to be written and no event to be recorded from then on.
func (w *idleWorld) settles(t *testing.T, name types.NamespacedName, reason string, status metav1.ConditionStatus) {
	t.Helper()
	const looks = 5
	w.looks(t, name)
	if c := w.says(t, name, v1beta2.ConditionAvailable); c.Reason != reason || c.Status != status {
		t.Fatalf("after one look: %+v", c)
	}
	// etcd counts its free pages when it commits, so how much is free may still change once.
	for deadline := time.Now().Add(time.Minute); ; {
		recorded := len(w.recorder.Events)
		w.writes, w.live = 0, 0
		for range looks {
			if next := w.looks(t, name); (next <= 5*time.Second) != (status == metav1.ConditionFalse) {
				t.Errorf("with %s it looks again in %s", reason, next)
			}
		}
		switch quiet := w.writes == 0 && w.live == 0; {
		case len(w.recorder.Events) != recorded:
			t.Fatalf("once it has said %s: %d events", reason, len(w.recorder.Events)-recorded)
		case quiet:
			return
		case time.Now().After(deadline):
			t.Fatalf("with %s there is no end of it: %d writes, %d live reads in %d looks", reason, w.writes, w.live, looks)
		}
	}
}

// looks has the operator look once, and returns when it would again.
func (w *idleWorld) looks(t *testing.T, name types.NamespacedName) time.Duration {
	t.Helper()
	result, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
	must(t, err)
	return result.RequeueAfter
}

func (w *idleWorld) says(t *testing.T, name types.NamespacedName, kind string) metav1.Condition {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	if said := meta.FindStatusCondition(c.Status.Conditions, kind); said != nil {
		return *said
	}
	return metav1.Condition{}
}

// told are the events since it was last asked.
func (w *idleWorld) told() (all []string) {
	for len(w.recorder.Events) > 0 {
		all = append(all, <-w.recorder.Events)
	}
	return all
}

// tells wants these events since it was last asked, and none besides.
func (w *idleWorld) tells(t *testing.T, want ...string) {
	t.Helper()
	got := w.told()
	if len(got) != len(want) {
		t.Fatalf("events: %q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("event %q, want %q", got[i], want[i])
		}
	}
}
