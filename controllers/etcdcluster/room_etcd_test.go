package etcdcluster_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
)

// noted is how long it takes at most until the operator remembers another revision, and old how old history is that it gives up.
const noted, old = 20 * time.Second, 5*time.Minute + time.Second

// laterClock is ahead of the machine's.
type laterClock struct {
	clock.RealClock
	ahead time.Duration
}

// Now implements clock.PassiveClock.
func (c *laterClock) Now() time.Time { return time.Now().Add(c.ahead) }

// Since implements clock.PassiveClock.
func (c *laterClock) Since(then time.Time) time.Duration { return c.Now().Sub(then) }

// crowded is a cluster of one member, on a real etcd with a small quota, and the operator's clock.
func crowded(t *testing.T, apart int, title string) (*idleWorld, types.NamespacedName, *clientv3.Client, *laterClock) {
	t.Helper()
	w, later := newIdleWorld(t), &laterClock{}
	w.operator.Clock = later
	name, quota := types.NamespacedName{Namespace: namespace, Name: title}, resource.MustParse("32Mi")
	pod := &v1beta2.PodPolicy{} // without a limit, nobody knows whether the copy has the kubelet evict the pod, with all of the data
	pod.Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Gi")}
	w.addresses[title+"-0"] = controllertest.Loopback(apart)
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Spec:       v1beta2.EtcdClusterSpec{Size: 1, Pod: pod, Etcd: &v1beta2.EtcdOptions{QuotaBackendBytes: &quota}},
	}))
	return w, name, w.runsEtcd(t, name, quota.Value()), later
}

// looksUntil looks until that holds, and tells what the operator says if it never does.
func (w *idleWorld) looksUntil(t *testing.T, name types.NamespacedName, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s\nit says %s\nevents: %s", what, w.says(t, name, v1beta2.ConditionAvailable).Message, strings.Join(w.told(), "\n"))
		}
		next := w.looks(t, name)
		time.Sleep(min(next, 300*time.Millisecond)) // as the queue would wait, and shorter
	}
}

// heldNow is what status says is held.
func (w *idleWorld) heldNow(t *testing.T, name types.NamespacedName) string {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	if c.Status.Autopilot == nil || len(c.Status.Autopilot.Held) == 0 {
		return ""
	}
	return c.Status.Autopilot.Held[0].Reason + ": " + c.Status.Autopilot.Held[0].Message
}

// fillUp fills the quota of a real etcd with what is in use: a file that was only written to has free pages, which a defragmentation gives back,
// and the more of them the larger the values are.
func fillUp(t *testing.T, etcd *clientv3.Client, name func(int) string) {
	t.Helper()
	const size = 32 << 10
	fill(t, etcd, size, name)
	_, err := etcd.Defragment(t.Context(), etcd.Endpoints()[0])
	must(t, err)
	_, err = etcd.AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
	must(t, err)
	fill(t, etcd, size, func(i int) string { return name(1_000_000 + i) })
}

// TestMakeRoomByItself overwrites keys in a real etcd up to its quota: once the history is five minutes old the operator gives it up, and etcd
// takes writes again. Nothing that was acknowledged is lost.
func TestMakeRoomByItself(t *testing.T) {
	w, name, etcd, later := crowded(t, 232, "overwritten")
	fillUp(t, etcd, func(i int) string { return "key/" + strconv.Itoa(i%4) })
	before, err := etcd.Get(t.Context(), "key/", clientv3.WithPrefix())
	must(t, err)
	later.ahead = noted
	w.looksUntil(t, name, "the history is too young", func() bool { return strings.HasPrefix(w.heldNow(t, name), v1beta2.ReasonMakingRoom) })
	if said := w.says(t, name, v1beta2.ConditionAvailable); said.Reason != v1beta2.ReasonNoSpace || !strings.Contains(said.Message, "Auto Pilot: ") {
		t.Errorf("Available: %+v", said)
	}
	w.told()

	later.ahead += old
	began := time.Now()
	w.looksUntil(t, name, "writes are taken", func() bool {
		_, err := etcd.Put(t.Context(), "after", "all")
		return err == nil
	})
	t.Logf("writes are taken %.1f s after the history was old enough", time.Since(began).Seconds())
	after, err := etcd.Get(t.Context(), "key/", clientv3.WithPrefix())
	must(t, err)
	if len(before.Kvs) != 4 || !reflect.DeepEqual(after.Kvs, before.Kvs) {
		t.Errorf("of %d keys %d are left, or they have other values", len(before.Kvs), len(after.Kvs))
	}
	w.settles(t, name, v1beta2.ReasonHasQuorum, metav1.ConditionTrue)
	told := strings.Join(w.told(), "\n")
	if strings.Contains(told, v1beta2.ReasonSpaceExhausted) {
		t.Errorf("it takes a compaction that has just begun for one in vain:\n%s", told)
	}
	for _, want := range []string{
		"MakingRoom compacting the history of keys", "MakingRoom defragmenting overwritten-0", "overwritten-0 is defragmented: it took ",
		"MakingRoom disarming the alarm NOSPACE of overwritten-0", "AlarmDisarmed", "NoLongerHeld",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("no event %q in\n%s", want, told)
		}
	}
}

// TestLiveKeysAreKept fills a real etcd with keys that are not overwritten: the alarm stays, and the operator says what to delete. Once
// somebody has, it goes on by itself.
func TestLiveKeysAreKept(t *testing.T) {
	w, name, etcd, later := crowded(t, 233, "live")
	fillUp(t, etcd, big)
	later.ahead = noted
	w.looks(t, name)
	later.ahead += old
	w.looksUntil(t, name, "nothing can be given up", func() bool { return strings.HasPrefix(w.heldNow(t, name), v1beta2.ReasonSpaceExhausted) })
	if said := w.heldNow(t, name); !strings.Contains(said, "delete keys, or raise spec.etcd.quotaBackendBytes") {
		t.Errorf("it says %s", said)
	}
	if told := strings.Join(w.told(), "\n"); strings.Count(told, "MakingRoom defragmenting") > 1 || strings.Contains(told, "disarm") {
		t.Errorf("it acts in vain:\n%s", told)
	}
	w.settles(t, name, v1beta2.ReasonNoSpace, metav1.ConditionFalse)

	_, err := etcd.Delete(t.Context(), "big/", clientv3.WithPrefix())
	must(t, err)
	later.ahead += noted
	w.looks(t, name)
	later.ahead += old
	w.looksUntil(t, name, "writes are taken", func() bool {
		_, err := etcd.Put(t.Context(), "after", "all")
		return err == nil
	})
}
