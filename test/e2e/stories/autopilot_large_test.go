package stories

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestLargeDefragment defragments databases of which 1 GiB is in use, under two clients, and says how long each was without a write, beside how long it
// was when the leader handed over and nothing else happened. One is connected to the Service, as etcd's client is by default, and waits for the member
// that it is connected to: it must lose nothing. The other one has the addresses of all members and asks each whether it serves, and waits for none.
// Both keep a lease alive that lives for less long than a member is defragmented.
func TestLargeDefragment(t *testing.T) { oneByOne(t, largeDefragment) }

func largeDefragment(t *testing.T, etcd edition) {
	spec := roomy()
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("4Gi")
	s := etcd.begin(t, "large-defragment", spec)
	s.settled()
	s.large(1200)
	s.healthy("written")
	s.givesUp(150)
	s.nearsQuota()
	const lease, timeout = 10 * time.Second, time.Second
	s.client("--lease", lease.String())
	asking := s.asking("--lease", lease.String(), "--timeout", timeout.String())
	handedOver := asking.handOver()
	s.report("before anything is defragmented")
	s.switchedOn()
	s.look("fragmented")
	must(t, harness.Await(t.Context(), "all members are defragmented", 5*limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSize < 1100<<20 })
	}))
	s.settled()
	usual, asked := s.report("a client that does not ask saw"), asking.report("a client that asks saw")
	busy := s.defragmented()
	s.measures("1 GiB defragmented in each member: longest time without a write of a client as etcd makes it, of one that asks for health, and of that one when "+
		"a leader hands over (the median of three), and how long a member was defragmented at least",
		fmt.Sprintf("%s, %s, %s, %s", usual.Gap(), asked.Gap(), handedOver, busy))
	s.measures(fmt.Sprintf("the same: requests that failed, and leases of %s that were lost, of a client as etcd makes it, and of one that asks for health", lease),
		fmt.Sprintf("%d, %d, and %d, %d", usual.Failures, usual.LeasesLost, asked.Failures, asked.LeasesLost))
	t.Logf("the operator says: %s", strings.Join(s.said(v1beta2.ReasonDefragmenting), "; "))
	asking.isServedMeanwhile(asked, handedOver, timeout, busy)
}

// TestLargeRecovery loses two of three members with 1 GiB of data for good, not the leader, under a client at work: nothing that was acknowledged
// is lost. It logs how long it takes until writes are taken, which is as long as the disks and the processors take: the goal is a minute.
func TestLargeRecovery(t *testing.T) { oneByOne(t, largeRecovery) }

func largeRecovery(t *testing.T, etcd edition) {
	spec := onVolumes(3)
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("4Gi")
	s := etcd.begin(t, "large-recovery", spec)
	s.settled()
	s.large(1024)
	s.healthy("written")
	s.client()
	s.losesMajority(true)
	p := s.planned(func(p *v1beta2.RecoveryPlan) bool { return len(p.Lost) == 2 })
	start := time.Now()
	s.confirms(p.Hash)
	took := s.writesTaken(start)
	s.restored(s.Name + "-recover-" + p.Hash)
	s.has("large", 1024)
	s.report("a client saw")
	s.measures("1 GiB recovered, from the confirmation until a write is taken", fmt.Sprintf("%.1f s", took.Seconds()))
}

// handOver has another member lead, three times, and returns for how long the client was without a write: the median.
func (s *story) handOver() time.Duration {
	s.t.Helper()
	var all []int64
	for range 3 {
		s.report("before another member leads")
		s.elects(s.followerPod().Name)
		all = append(all, s.report("another member leads").LongestGapMS)
	}
	slices.Sort(all)
	return time.Duration(all[len(all)/2]) * time.Millisecond
}

// defragmentedIn is where an event has how long a member was defragmented.
var defragmentedIn = regexp.MustCompile(` is defragmented: it took (\S+),`)

// defragmented waits until all three members are said to be defragmented, and returns how long that took in the quickest one.
func (s *story) defragmented() time.Duration {
	s.t.Helper()
	var all []time.Duration
	must(s.t, harness.Await(s.t.Context(), "it is told of three members", limit, func(context.Context) (string, bool) {
		all = nil
		notes := s.said(v1beta2.ReasonDefragmenting)
		for _, note := range notes {
			if found := defragmentedIn.FindStringSubmatch(note); found != nil {
				took, err := time.ParseDuration(found[1])
				must(s.t, err)
				all = append(all, took)
			}
		}
		return fmt.Sprintf("%q", notes), len(all) >= 3
	}))
	return slices.Min(all)
}

// asking is the same story with another client, that asks members whether they serve.
func (s *story) asking(flags ...string) *story {
	s.t.Helper()
	other := s.within(s.t)
	var err error
	other.writer, err = s.NewAskingWriter(s.t.Context(), flags...)
	must(s.t, err)
	return other
}

// isServedMeanwhile wants the client not to have waited for a member that was being defragmented, and to have lost no lease. Whoever is served by the
// others waits for one hand-over, for a request that was on its way to that member until that is given up, and for what a busy machine adds. Whoever is
// not gives up one request after the other, and only every third one is to that member: so the requests that have failed are counted, too. Both are told
// apart at half of what they are for a client that waits: a slow machine takes longer for all. Where that is no more than a machine may add, nothing can
// be told, and the story fails: this disk needs a larger database.
func (s *story) isServedMeanwhile(saw harness.Report, handedOver, timeout, busy time.Duration) {
	s.t.Helper()
	const (
		noise   = 2 * time.Second
		clients = 7 // six workers and a writer, each with a connection of its own: see test/e2e/client
		members = 3
	)
	most, failures := max(busy/2, handedOver+timeout+noise), clients*members*int64(busy/timeout)/2
	switch {
	case busy <= most:
		s.t.Errorf("a member was defragmented within %s: whether the client waited for it can be told from %s on. The database is too small for this disk", busy, most)
	case saw.Gap() > most:
		s.t.Errorf("the client was without a write for %s, where a hand-over takes %s, and to defragment a member %s or more", saw.Gap(), handedOver, busy)
	case saw.Failures > failures:
		s.t.Errorf("%d requests of the client have failed: one that waits for members has twice as many as %d", saw.Failures, failures)
	}
	if saw.LeasesLost > 0 {
		s.t.Errorf("the client has lost %d leases", saw.LeasesLost)
	}
}

// large writes so many MiB that stay in use, several at a time: the leader flushes its log once for those that come together.
func (s *story) large(mebi int) {
	s.t.Helper()
	const writers = 6
	start, numbers, ended := time.Now(), make(chan int, mebi), make(chan error, writers)
	for i := range mebi {
		numbers <- i
	}
	close(numbers)
	for range writers {
		go func() { ended <- s.writesLarge(numbers) }()
	}
	var err error
	for range writers {
		err = errors.Join(err, <-ended)
	}
	must(s.t, err)
	s.t.Logf("%d MiB were written in %s", mebi, time.Since(start).Round(time.Second))
}

// writesLarge writes a MiB for each number, through the leader, and again where that has failed: a slow disk makes members elect another one.
func (s *story) writesLarge(numbers <-chan int) error {
	const patience = 20 * time.Second
	ctx, value := s.t.Context(), strings.Repeat("x", 1<<20)
	leader, err := s.Leader(ctx)
	if err != nil {
		return err
	}
	etcd, err := s.Etcd(*leader)
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	for i := range numbers {
		err := harness.Await(ctx, fmt.Sprintf("MiB %d is written", i), limit, func(ctx context.Context) (string, bool) {
			one, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			_, err := etcd.Put(one, fmt.Sprintf("large/%04d", i), value)
			return fmt.Sprint(err), err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nearsQuota gives etcd a quota that the largest file has almost reached, whatever it grew to while it was written.
func (s *story) nearsQuota() {
	s.t.Helper()
	largest := int64(0)
	must(s.t, harness.Await(s.t.Context(), "the sizes are known", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { largest = max(largest, a.DbSize); return true })
	}))
	must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Etcd = &v1beta2.EtcdOptions{QuotaBackendBytes: resource.NewQuantity((largest+largest/20)>>20<<20, resource.BinarySI)}
	}))
	s.settled()
}

// givesUp deletes so many of those MiB, with their history, and again where that is not answered: the disk may be busy with what was written.
func (s *story) givesUp(mebi int) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "keys are given up", limit, func(ctx context.Context) (string, bool) {
		err := s.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
			gone, err := etcd.Delete(ctx, "large/0000", clientv3.WithRange(fmt.Sprintf("large/%04d", mebi)))
			if err != nil {
				return err
			}
			_, err = etcd.Compact(ctx, gone.Header.Revision) // it takes longer than anybody waits for an answer
			return err
		})
		return fmt.Sprint(err), err == nil || errors.Is(err, rpctypes.ErrCompacted)
	}))
	must(s.t, harness.Await(s.t.Context(), "free pages", limit, func(ctx context.Context) (string, bool) {
		err := s.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, "counted", "") // etcd counts free pages when it commits
			return err
		})
		if err != nil {
			return err.Error(), false
		}
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSizeInUse < a.DbSize-int64(mebi)<<19 })
	}))
}
