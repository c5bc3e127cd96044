package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// wastedSize is how many MiB are written, of which few are left in use. When bbolt's file has to grow, it gets 16 MiB more than it needs, so it has
	// 65 to 73 MiB then: more than four fifths of wastedQuota, and less than what the operator makes room for.
	wastedSize, wastedQuota = 55, "76Mi"
	// ofNamespace is how many clusters of a namespace Auto Pilot disturbs at a time, and restsFor how long one is at rest before it counts no more.
	ofNamespace, restsFor = 3, 30 * time.Second
	// shutFor is for how long a closed window is watched: it is the time itself that is tested.
	shutFor = 30 * time.Second
)

// TestWaits has a defragmentation be due, which waits for the maintenance window, and for the turn of its cluster: it is said for what it waits, and
// done once when that is over. No other story runs meanwhile, because its clusters would have turns, too.
func TestWaits(t *testing.T) {
	t.Run("window", func(t *testing.T) { editions(t, waitsForWindow) })
	t.Run("brake", waitsForTurn)
}

func waitsForWindow(t *testing.T, etcd edition) {
	s := etcd.begin(t, "window", wasteful())
	s.settled()
	s.fragments(wastedSize)
	s.client()
	s.look("fragmented")
	s.isHeld("defragment", v1beta2.ReasonWaitingForWindow, "that waits for the maintenance window")
	s.never("a member is defragmented while the window is closed", shutFor, func(context.Context) (bool, error) {
		return len(s.said(v1beta2.ReasonDefragmenting)) > 0, nil
	})
	s.switchedOn()
	s.tidied(wastedSize)
	s.settled()
	s.defragmentedOnce()
	s.toldOnce(v1beta2.ReasonWaitingForWindow)
	if ends := s.said(v1beta2.ReasonNoLongerHeld); !slices.ContainsFunc(ends, func(note string) bool { return strings.HasPrefix(note, "autopilot.defragment:") }) {
		t.Errorf("it is not said that it waits no longer: %q", ends)
	}
	s.report("a client saw")
}

// waitsForTurn opens the windows of four clusters of a namespace at the same time: three have their turn, and the fourth one once one of them has been
// at rest for a while.
func waitsForTurn(t *testing.T) {
	all := []*story{told()[0].begin(t, "turns", wasteful())}
	for i := range ofNamespace {
		all = append(all, all[0].another(fmt.Sprintf("beside-%d", i+1), wasteful()))
	}
	for _, s := range all {
		s.settled()
		s.fragments(wastedSize)
		s.look("fragmented")
		s.isHeld("defragment", v1beta2.ReasonWaitingForWindow, "that waits for the maintenance window")
	}
	all[0].client()
	for _, s := range all {
		s.switchedOn()
	}
	waits := awaitsTurn(t, all)
	for _, s := range all {
		s.tidied(wastedSize)
		s.settled()
		s.defragmentedOnce()
	}
	waits.saidOnce(v1beta2.ReasonWaitingForBrake, "autopilot.defragment:")
	if others := slices.DeleteFunc(slices.Clone(all), func(s *story) bool { return s == waits }); !waits.hadToRest(others) {
		t.Errorf("%s did not wait until one of the others was at rest", waits.Name)
	}
	all[0].report("a client saw")
}

// wasteful is a cluster with a small quota and a window that opens on 29 February.
func wasteful() v1beta2.EtcdClusterSpec {
	quota, spec := resource.MustParse(wastedQuota), onVolumes(3)
	spec.Etcd = &v1beta2.EtcdOptions{QuotaBackendBytes: &quota}
	spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "0 0 29 2 *", Duration: metav1.Duration{Duration: time.Hour}}
	return spec
}

// awaitsTurn waits until one of the clusters says that it waits for its turn, and returns it.
func awaitsTurn(t *testing.T, all []*story) (waits *story) {
	t.Helper()
	must(t, harness.Await(t.Context(), "a cluster waits for its turn", limit, func(ctx context.Context) (string, bool) {
		text := ""
		for _, s := range all {
			said, is := s.heldFor(ctx, "defragment", v1beta2.ReasonWaitingForBrake, "that waits until fewer clusters are disturbed")
			if is {
				waits = s
			}
			text += s.Name + ": " + said + "; "
		}
		return text, waits != nil
	}))
	return waits
}

// defragmentedOnce wants it to be told of each member once that it is to be defragmented, and once how long it took.
func (s *story) defragmentedOnce() {
	s.t.Helper()
	for _, pod := range s.memberPods() {
		must(s.t, harness.Await(s.t.Context(), "it is told of "+pod.Name+" once", limit, func(context.Context) (string, bool) {
			before, after := 0, 0
			notes := s.said(v1beta2.ReasonDefragmenting)
			for _, note := range notes {
				switch {
				case strings.HasPrefix(note, "defragmenting "+pod.Name+","):
					before++
				case strings.HasPrefix(note, pod.Name+" is defragmented:"):
					after++
				}
			}
			return fmt.Sprintf("%q", notes), before == 1 && after == 1
		}))
	}
}

// hadToRest reports whether one of the others was at rest for as long as it has a turn before the first member of this cluster was defragmented.
func (s *story) hadToRest(others []*story) bool {
	s.t.Helper()
	earlier := func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) }
	began := slices.MinFunc(s.eventsOf(v1beta2.ReasonDefragmenting), earlier).EventTime
	return slices.ContainsFunc(others, func(other *story) bool {
		ended := slices.MaxFunc(other.eventsOf(v1beta2.ReasonDefragmenting), earlier).EventTime
		s.t.Logf("%s ended at %s, and %s began at %s", other.Name, ended.Format(time.TimeOnly), s.Name, began.Format(time.TimeOnly))
		return began.Sub(ended.Time) > restsFor/2
	})
}
