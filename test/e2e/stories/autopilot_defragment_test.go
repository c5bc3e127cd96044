package stories

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
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
	s.fragments(fragmentedSize)
	s.client()
	s.switchedOn()
	s.look("fragmented")
	s.tidied(fragmentedSize)
	s.healthy("defragmented")
	s.settled()
	s.defragmentedInTurn()
	s.report("a client saw")
	t.Logf("the operator says: %s", strings.Join(s.said(v1beta2.ReasonDefragmenting), "; "))
}

// defragmentedInTurn wants each member to be defragmented once, and none to begin before the one before it has ended, by the times of the events.
func (s *story) defragmentedInTurn() {
	s.t.Helper()
	s.defragmentedOnce()
	began, ended := map[string]time.Time{}, map[string]time.Time{}
	for _, e := range s.eventsOf(v1beta2.ReasonDefragmenting) {
		if name, _, begins := strings.Cut(strings.TrimPrefix(e.Note, "defragmenting "), ", of whose database "); begins {
			began[name] = e.EventTime.Time
		}
		if name, _, ends := strings.Cut(e.Note, " is defragmented:"); ends {
			ended[name] = e.EventTime.Time
		}
	}
	order := slices.SortedFunc(maps.Keys(began), func(a, b string) int { return began[a].Compare(began[b]) })
	if len(order) != 3 || len(ended) != 3 {
		s.t.Errorf("of three members, %d have begun and %d ended: %q", len(order), len(ended), s.said(v1beta2.ReasonDefragmenting))
	}
	for i := range len(order) - 1 {
		if former, next := order[i], order[i+1]; began[next].Before(ended[former]) {
			s.t.Errorf("%s was begun at %s, and %s ended at %s", next, began[next].Format(time.StampMilli), former, ended[former].Format(time.StampMilli))
		}
	}
}

// TestDefragmentHeld is where no member is defragmented: while a backup reads a snapshot, while a voter is down, and while volumes have no room for
// the copy.
func TestDefragmentHeld(t *testing.T) {
	t.Parallel()
	t.Run("a backup, and a frozen voter", func(t *testing.T) {
		t.Parallel()
		editions(t, defragmentHeld)
	})
	t.Run("no room for a copy", func(t *testing.T) {
		t.Parallel()
		editions(t, defragmentWithoutRoom)
	})
}

func defragmentHeld(t *testing.T, etcd edition) {
	s := etcd.begin(t, "defragment-held", roomy())
	s.settled()
	s.fill(uploadSize >> 20)
	s.fragments(fragmentedSize)
	s.client()
	wire, storage := s.plainMinIO()
	s.holding(wire, "slow", storage, func(spec *v1beta2.EtcdBackupSpec) { spec.DeletionPolicy = v1beta2.DeletionDelete })
	s.switchedOn()
	s.look("backup")
	s.isHeld("defragment", v1beta2.ReasonDefragmentationHeld, "EtcdBackup slow")
	s.unsaid(v1beta2.ReasonDefragmenting)

	voter := s.Name + "-2"
	frozen := s.Namespace + "/" + voter + "/etcd"
	thaw := func() { _ = nodes.Faults().ThawContainer(context.Background(), frozen) }
	t.Cleanup(thaw)
	must(t, nodes.Faults().FreezeContainer(t.Context(), frozen))
	must(t, harness.Await(t.Context(), voter+" is missed", limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return inJSON(object.Status.Autopilot) + harness.Words(object), missed(object, voter)
	}))
	wire.open()
	s.backedUp("slow")
	s.look("frozen")
	s.never("a defragmentation is due although "+voter+" is frozen, or it is not missed any more", frozenFor, func(ctx context.Context) (bool, error) {
		object, err := s.Cluster.Get(ctx)
		return err == nil && !missed(object, voter), err
	})
	s.unsaid(v1beta2.ReasonDefragmenting)
	thaw()
	s.tidied(fragmentedSize)
	s.report("a client saw")
	s.takesAway("slow")
}

// takesAway deletes an EtcdBackup with its snapshots: the lab's MinIO has no room for those of several versions of etcd.
func (s *story) takesAway(name string) {
	s.t.Helper()
	object := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
	must(s.t, s.Client.Delete(s.t.Context(), object))
	must(s.t, harness.Await(s.t.Context(), name+" is deleted with its snapshots", limit, func(ctx context.Context) (string, bool) {
		err := s.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		return fmt.Sprint(err), apierrors.IsNotFound(err)
	}))
}

// defragmentWithoutRoom has volumes that hold the database, but not a copy of it and etcd's log besides. What they request is what counts, so folders of
// the lab that have no limit serve as well as disks that are full. Once the volumes are larger, as status says, it is done.
func defragmentWithoutRoom(t *testing.T, etcd edition) {
	const written, larger = 160, "1Gi"
	class, spec := lab.GrowingClass, roomy()
	claim := spec.Pod.PersistentVolumeClaimSpec
	claim.StorageClassName, claim.Resources.Requests[corev1.ResourceStorage] = &class, resource.MustParse("512Mi")
	s := etcd.begin(t, "defragment-room", spec)
	s.settled()
	s.fragments(written)
	s.client()
	s.switchedOn()
	s.look("fragmented")
	s.isHeld("defragment", v1beta2.ReasonDefragmentationHeld, "no room for the copy that etcd writes beside the database: give the members larger volumes")
	s.never("a member is defragmented although its volume has no room for a copy", quietFor, func(context.Context) (bool, error) {
		return len(s.said(v1beta2.ReasonDefragmenting)) > 0, nil
	})
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(larger)
	}))
	s.claims(larger)
	s.tidied(written)
	s.settled()
	s.defragmentedOnce()
	s.report("a client saw")
}

// missed reports whether status says that a voter is down, and of no defragmentation that it is held: none is due before all are healthy, so Degraded
// is what says why there is none.
func missed(c *v1beta2.EtcdCluster, voter string) bool {
	due := c.Status.Autopilot != nil && slices.ContainsFunc(c.Status.Autopilot.Held, func(h v1beta2.HeldAct) bool { return h.Feature == "defragment" })
	says := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionDegraded)
	return !due && says != nil && says.Reason == v1beta2.ReasonMemberDown && strings.Contains(says.Message, voter)
}

// roomy is a cluster that is not defragmented before it is told to.
func roomy() v1beta2.EtcdClusterSpec {
	spec := onVolumes(3)
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
	spec.Autopilot = &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOff}
	return spec
}

// switchedOn has Auto Pilot act, in a window that is always open.
func (s *story) switchedOn() {
	s.t.Helper()
	must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Autopilot = &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOn}
		spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "* * * * *", Duration: metav1.Duration{Duration: time.Hour}}
	}))
}

// fragments writes so many MiB, and gives up most of them.
func (s *story) fragments(mebi int) {
	s.t.Helper()
	revision := int64(0)
	for i := range mebi {
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
		if errors.Is(err, rpctypes.ErrCompacted) {
			return nil // it took longer than a member may take to answer, and goes on
		}
		return err
	}))
	s.puts("counted", 10) // etcd counts free pages when it commits
	must(s.t, harness.Await(s.t.Context(), "free pages", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSizeInUse < a.DbSize/2 })
	}))
}

// tidied waits until no member's file has half of the MiB any more that were written.
func (s *story) tidied(mebi int64) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "all members are defragmented", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSize < mebi<<20/2 })
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
	for _, e := range s.eventsOf(reason) {
		notes = append(notes, e.Note)
	}
	return notes
}

// eventsOf are the cluster's events of that reason.
func (s *story) eventsOf(reason string) []eventsv1.Event {
	s.t.Helper()
	events, err := env.Kube.EventsV1().Events(s.Namespace).List(s.t.Context(), metav1.ListOptions{})
	must(s.t, err)
	return slices.DeleteFunc(events.Items, func(e eventsv1.Event) bool {
		return e.Reason != reason || e.Regarding.Kind != "EtcdCluster" || e.Regarding.Name != s.Name
	})
}

// unsaid wants no event of that reason.
func (s *story) unsaid(reason string) {
	s.t.Helper()
	if notes := s.said(reason); len(notes) > 0 {
		s.t.Errorf("events %s: %q", reason, notes)
	}
}
