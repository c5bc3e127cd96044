package stories

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// story is a cluster in a namespace of its own, with a client at work, that ends with the test.
type story struct {
	*harness.Cluster
	t       *testing.T
	writer  *harness.Writer
	outcome *outcome
}

func begin(t *testing.T, name string, spec v1beta2.EtcdClusterSpec) *story {
	t.Helper()
	must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent("story-"+name)))
	return beginIn(t, name, spec)
}

// beginIn is begin in a namespace that may hold something already.
func beginIn(t *testing.T, name string, spec v1beta2.EtcdClusterSpec) *story {
	t.Helper()
	start := time.Now()
	s := createIn(t, name, spec)
	s.healthy("created")
	t.Logf("%s: %d members healthy after %.1f s", name, spec.Size, time.Since(start).Seconds())
	return s
}

// createIn is beginIn of a cluster that is not to become healthy yet.
func createIn(t *testing.T, name string, spec v1beta2.EtcdClusterSpec) *story {
	t.Helper()
	began := time.Now()
	cluster, err := env.NewCluster(t.Context(), "story-"+name, name, spec)
	must(t, err)
	s := &story{Cluster: cluster, t: t, outcome: &outcome{began: began}}
	t.Cleanup(func() {
		s.tellOutcome()
		if t.Failed() {
			describe(t, cluster)
		}
		deleteNamespace(t, cluster.Namespace)
	})
	return s
}

// within is the story as a part of the test tells it: what fails there fails that part.
func (s *story) within(t *testing.T) *story {
	return &story{Cluster: s.Cluster, t: t, outcome: s.outcome}
}

func absent(namespace string) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		_, err := env.Kube.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		return fmt.Sprint(err), apierrors.IsNotFound(err)
	}
}

// deleteNamespace runs when the test's own context has ended already.
func deleteNamespace(t *testing.T, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := env.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Error(err)
	}
}

// client starts a client, with more flags, that writes and reads until the story ends: report says what it saw.
func (s *story) client(flags ...string) {
	s.t.Helper()
	var err error
	s.writer, err = s.NewWriter(s.t.Context(), "", flags...)
	must(s.t, err)
}

// report says what the client saw since the last report, once it works on, and fails the story if an acknowledged write was lost, or if all that the
// client saw since it was started is not what one copy of the data could have answered.
func (s *story) report(what string) harness.Report {
	s.t.Helper()
	s.moreReads()
	saw, err := s.writer.Judge(s.t.Context(), false)
	s.t.Logf("%s: %s", what, saw)
	s.outcome.add(saw.Report)
	must(s.t, err)
	return saw.Report
}

// measures logs a row of a table for docs/benchmarks.md: what took how long, with the version of etcd that the members run.
func (s *story) measures(what, took string) {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	s.t.Logf("| %s | etcd %s | %s |", what, object.Status.CurrentVersion, took)
}

// elects has that member lead.
func (s *story) elects(name string) {
	s.t.Helper()
	must(s.t, s.MoveLeader(s.t.Context(), *s.pod(name)))
	must(s.t, harness.Await(s.t.Context(), name+" leads", limit, func(ctx context.Context) (string, bool) {
		leader, err := s.Leader(ctx)
		return fmt.Sprint(err), err == nil && leader.Name == name
	}))
}

func (s *story) healthy(what string) {
	s.t.Helper()
	start := time.Now()
	must(s.t, s.Healthy(s.t.Context(), limit))
	s.t.Logf("%s: healthy %.1f s later", what, time.Since(start).Seconds())
}

func (s *story) settled() {
	s.t.Helper()
	must(s.t, s.Settled(s.t.Context(), limit))
}

func (s *story) resize(size int32) {
	s.t.Helper()
	must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Size = size }))
}

func (s *story) says(condition, reason string) {
	s.t.Helper()
	must(s.t, s.Says(s.t.Context(), condition, reason, limit))
}

func (s *story) pod(name string) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{}
	must(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, pod))
	return pod
}

func (s *story) claim(name string) *corev1.PersistentVolumeClaim {
	s.t.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	must(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, claim))
	return claim
}

// member is what status says of one member.
func (s *story) member(name string) v1beta2.MemberStatus {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	for _, m := range object.Status.MemberStatuses {
		if m.Name == name {
			return m
		}
	}
	s.t.Fatalf("status has no member %s: %+v", name, object.Status.MemberStatuses)
	return v1beta2.MemberStatus{}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// onVolumes is a cluster whose members have claims.
func onVolumes(size int32) v1beta2.EtcdClusterSpec {
	return v1beta2.EtcdClusterSpec{Size: size, Pod: &v1beta2.PodPolicy{
		PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}}
}
