package leadership_test

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/etcdpilot/etcd-operator/controllers/leadership"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// process is one of those that a Lease keeps from acting at the same time.
type process struct {
	*leadership.Lock
	name string
}

func start(t *testing.T, config *rest.Config, name string, clock *clocktesting.FakeClock) process {
	t.Helper()
	lease, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, metav1.NamespaceDefault, "operator",
		resourcelock.ResourceLockConfig{Identity: name}, config, leadership.Term)
	if err != nil {
		t.Fatal(err)
	}
	return process{leadership.NewLock(lease, clock), name}
}

// record is what leader election wants the Lease to say: it has terms of its own.
func (p process) record(holder string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 3600}
}

// takes has the process take the Lease as leader election does, which reads it first.
func (p process) takes(t *testing.T) {
	t.Helper()
	if _, _, err := p.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Update(t.Context(), p.record(p.name)); err != nil {
		t.Fatal(err)
	}
}

func (p process) left(t *testing.T, want time.Duration) {
	t.Helper()
	if got := p.Left(); got != want {
		t.Errorf("%s may act for %s more, want %s", p.name, got, want)
	}
}

// kept wants nobody to have taken the process's place.
func (p process) kept(t *testing.T) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := p.Keep(ctx); err != nil {
		t.Error(err)
	}
}

// TestLock has two processes hold a Lease of a real API server in turn, and looks how long each may act.
func TestLock(t *testing.T) {
	config, clock := testenv.Start(t), clocktesting.NewFakeClock(time.Now())
	a, b := start(t, config, "a", clock), start(t, config, "b", clock)
	const whole = 12 * time.Second
	a.left(t, 0)
	if err := a.Create(t.Context(), a.record("a")); err != nil {
		t.Fatal(err)
	}
	a.left(t, whole)
	clock.Step(5 * time.Second)
	a.left(t, whole-5*time.Second)
	if err := a.Update(t.Context(), a.record("a")); err != nil {
		t.Fatal(err)
	}
	a.left(t, whole)
	term(t, config, 15)

	// An outage: it cannot act any more, and does so again once it has renewed the Lease, for nobody else has taken it.
	clock.Step(10 * time.Minute)
	a.left(t, 0)
	a.kept(t)
	a.takes(t)
	a.left(t, whole)

	// Another one takes its place. Only that makes it exit.
	clock.Step(leadership.Term)
	b.takes(t)
	b.left(t, whole)
	if err := a.Update(t.Context(), a.record("a")); err == nil {
		t.Error("it writes over what the other one wrote")
	}
	a.left(t, 0)
	if _, _, err := a.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Keep(t.Context()); err == nil || !strings.Contains(err.Error(), `"b" has taken it`) {
		t.Errorf("it goes on: %v", err)
	}

	// Who releases it may not act from then on, and was not robbed when another one takes it.
	if err := b.Update(t.Context(), b.record("")); err != nil {
		t.Fatal(err)
	}
	b.left(t, 0)
	start(t, config, "c", clock).takes(t)
	if _, _, err := b.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.kept(t)
	b.left(t, 0)
}

// term wants others to wait so many seconds for a Lease that is not renewed.
func term(t *testing.T, config *rest.Config, want int32) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := client.CoordinationV1().Leases(metav1.NamespaceDefault).Get(t.Context(), "operator", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := lease.Spec.LeaseDurationSeconds; got == nil || *got != want {
		t.Errorf("the Lease says %v seconds", got)
	}
}
