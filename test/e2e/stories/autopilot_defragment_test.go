package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// fragmentedSize is how many MiB are written, of which few are left: as much as the lab's disks bear in a story.
const fragmentedSize = 400

// TestDefragment has much of the members' databases be free: they are given back to the disk one after the other, and a client at work loses
// nothing.
func TestDefragment(t *testing.T) {
	t.Parallel()
	editions(t, defragment)
}

func defragment(t *testing.T, etcd edition) {
	s := etcd.begin(t, "defragment", roomy())
	s.settled()
	s.fragments()
	s.client()
	s.edited(v1beta2.AutopilotOn)
	s.look("fragmented")
	s.tidied()
	s.healthy("defragmented")
	s.settled()
	s.report("a client saw")
	t.Logf("the operator says: %s", strings.Join(s.said(v1beta2.ReasonDefragmenting), "; "))
}

// TestDefragmentHeld is where no member is defragmented: while a backup reads a snapshot, and while a voter is down.
func TestDefragmentHeld(t *testing.T) {
	t.Parallel()
	editions(t, defragmentHeld)
}

func defragmentHeld(t *testing.T, etcd edition) {
	s := etcd.begin(t, "defragment-held", roomy())
	s.settled()
	s.fill(uploadSize >> 20)
	s.fragments()
	s.client()
	wire, storage := s.plainMinIO()
	s.holding(wire, "slow", storage, func(*v1beta2.EtcdBackupSpec) {})
	s.edited(v1beta2.AutopilotOn)
	s.look("backup")
	s.isHeld("defragment", v1beta2.ReasonDefragmentationHeld, "EtcdBackup slow")
	s.unsaid(v1beta2.ReasonDefragmenting)

	frozen := s.Namespace + "/" + s.Name + "-2/etcd"
	thaw := func() { _ = nodes.Faults().ThawContainer(context.Background(), frozen) }
	t.Cleanup(thaw)
	must(t, nodes.Faults().FreezeContainer(t.Context(), frozen))
	wire.open()
	s.backedUp("slow")
	s.look("frozen")
	time.Sleep(frozenFor)
	s.unsaid(v1beta2.ReasonDefragmenting)
	thaw()
	s.tidied()
	s.report("a client saw")
}

// roomy is a cluster that is not defragmented before it is told to.
func roomy() v1beta2.EtcdClusterSpec {
	spec := onVolumes(3)
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
	spec.Autopilot = &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOff}
	return spec
}

// edited has Auto Pilot go that far, in a window that is always open.
func (s *story) edited(mode v1beta2.AutopilotMode) {
	s.t.Helper()
	must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Autopilot = &v1beta2.AutopilotSpec{Mode: mode}
		spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "* * * * *", Duration: metav1.Duration{Duration: time.Hour}}
	}))
}

// fragments writes much, and gives up most of it.
func (s *story) fragments() {
	s.t.Helper()
	revision := int64(0)
	for i := range fragmentedSize {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			put, err := etcd.Put(ctx, fmt.Sprintf("over/%d", i%4), strings.Repeat("x", 1<<20))
			if err == nil {
				revision = put.Header.Revision
			}
			return err
		}))
	}
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		_, err := etcd.Compact(ctx, revision, clientv3.WithCompactPhysical())
		return err
	}))
	s.puts("counted", 10) // etcd counts free pages when it commits
	must(s.t, harness.Await(s.t.Context(), "free pages", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSizeInUse < a.DbSize/2 })
	}))
}

// tidied waits until no member's file is much larger than what is in use.
func (s *story) tidied() {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "all members are defragmented", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSize < fragmentedSize<<20/2 })
	}))
}

// sizes reports whether the databases of all members are so, and what they are.
func (s *story) sizes(ctx context.Context, so func(*clientv3.StatusResponse) bool) (text string, all bool) {
	pods, err := s.Pods(ctx)
	if err != nil {
		return err.Error(), false
	}
	all = true
	for _, pod := range pods {
		etcd, err := s.Etcd(pod)
		if err != nil {
			return err.Error(), false
		}
		one, cancel := context.WithTimeout(ctx, time.Second) // one that is being defragmented does not answer
		status, err := etcd.Status(one, etcd.Endpoints()[0])
		cancel()
		_ = etcd.Close()
		if err != nil {
			return err.Error(), false
		}
		text += fmt.Sprintf("%s has %d bytes, %d of them in use, of a quota of %d; ", pod.Name, status.DbSize, status.DbSizeInUse, status.DbSizeQuota)
		all = all && so(status)
	}
	return text, all
}

// said are the notes of the cluster's events of that reason.
func (s *story) said(reason string) (notes []string) {
	s.t.Helper()
	events, err := env.Kube.EventsV1().Events(s.Namespace).List(s.t.Context(), metav1.ListOptions{})
	must(s.t, err)
	for _, e := range events.Items {
		if e.Reason == reason && e.Regarding.Kind == "EtcdCluster" {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// unsaid wants no event of that reason.
func (s *story) unsaid(reason string) {
	s.t.Helper()
	if notes := s.said(reason); len(notes) > 0 {
		s.t.Errorf("events %s: %q", reason, notes)
	}
}
