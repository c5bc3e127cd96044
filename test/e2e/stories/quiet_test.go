package stories

import (
	"os"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// watched is for how long TestQuiet watches at most: a longer night is pressed into it.
const watched = 15 * time.Minute

// TestQuiet leaves an idle and a busy cluster alone, with all of Auto Pilot on and a window that is always open, for as long as QUIET says, by the
// clock of what Auto Pilot samples: nothing is due in them, so nothing happens, and nothing is held. That is so for less than a week, after which
// less CPU is due in an idle cluster. No other story runs meanwhile, because the operator looks more often than usual if the night is pressed.
func TestQuiet(t *testing.T) {
	night, err := time.ParseDuration(os.Getenv("QUIET"))
	if err != nil {
		t.Fatalf("QUIET=%s: give a time such as 10m: %v", os.Getenv("QUIET"), err)
	}
	pace := max(1, int(night/watched))
	quickened(t, pace)
	for _, busy := range []bool{false, true} {
		name := "idle"
		if busy {
			name = "busy"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			editions(t, func(t *testing.T, etcd edition) { quiet(t, etcd, "quiet-"+name, busy, night/time.Duration(pace)) })
		})
	}
}

// withWindow opens a window for what can wait that never closes.
func withWindow(spec v1beta2.EtcdClusterSpec) v1beta2.EtcdClusterSpec {
	spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "* * * * *", Duration: metav1.Duration{Duration: time.Hour}}
	return spec
}

// quiet leaves one cluster alone for that long.
func quiet(t *testing.T, etcd edition, name string, busy bool, night time.Duration) {
	spec := withWindow(allOn(etcd.patch(t).minor))
	if busy { // so that the members' data is compared
		spec.Etcd = &v1beta2.EtcdOptions{AutoCompaction: &v1beta2.AutoCompaction{Mode: "Periodic", Retention: "1m"}}
	}
	s := begin(t, etcd.named(name), spec)
	s.settled()
	if busy {
		s.client()
	}
	before, since := s.starts(), metav1.Now()
	s.holdsNothing(night) // it is the time itself that is tested
	if after := s.starts(); after != before {
		t.Errorf("the pods were %s, and are %s", before, after)
	}
	s.silentSince(since)
	if busy {
		s.report("a client saw")
	}
}

// allOn is a cluster of three with the newest patch release of a minor one, in which every feature of Auto Pilot may act. There is room for
// each of them within its bounds, and no use for it.
func allOn(minor string) v1beta2.EtcdClusterSpec {
	spec, on := resizable("250m", "512Mi", "1", "2Gi"), v1beta2.AutopilotFeature{Mode: v1beta2.AutopilotOn}
	least, quota, volume := resource.MustParse("100m"), resource.MustParse("8Gi"), resource.MustParse("20Gi")
	a := spec.Autopilot
	a.Resources.AutopilotFeature, a.Resources.Min = on, &v1beta2.ResourceBounds{CPU: &least}
	a.NoSpace = &v1beta2.NoSpaceAutopilot{AutopilotFeature: on}
	a.Quota = &v1beta2.QuotaAutopilot{AutopilotFeature: on, Max: &quota}
	a.Volume = &v1beta2.VolumeAutopilot{AutopilotFeature: on, Max: &volume}
	a.Defragment, a.Patches, a.Relocation, a.DivergedMember, a.Anomaly = &on, &on, &on, &on, &on
	a.Timers = &v1beta2.TimersAutopilot{Mode: v1beta2.AutopilotAdvise} // there is no On
	spec.Version = minor
	return spec
}

// holdsNothing wants nothing of Auto Pilot to be held at any moment of that time.
func (s *story) holdsNothing(night time.Duration) {
	s.t.Helper()
	var said []string
	looked, tick, end := 0, time.NewTicker(time.Second), time.After(night)
	defer tick.Stop()
	for over := false; !over; {
		if object, err := s.Cluster.Get(s.t.Context()); err == nil {
			looked++
			if a := object.Status.Autopilot; a != nil && len(a.Held) > 0 && !slices.Contains(said, inJSON(a.Held)) {
				said = append(said, inJSON(a.Held))
			}
		}
		select {
		case <-s.t.Context().Done():
			s.t.Fatal(s.t.Context().Err())
		case <-tick.C:
		case <-end:
			over = true
		}
	}
	if looked == 0 {
		s.t.Error("nobody could look what is held")
	}
	for _, held := range said {
		s.t.Errorf("nothing is due, and held is %s", held)
	}
}

// starts are the UIDs of the pods, and how often their containers have started.
func (s *story) starts() string {
	s.t.Helper()
	return inJSON(s.startsOf())
}

// silentSince wants no event about the cluster after that time.
func (s *story) silentSince(since metav1.Time) {
	s.t.Helper()
	events, err := env.Kube.EventsV1().Events(s.Namespace).List(s.t.Context(), metav1.ListOptions{})
	must(s.t, err)
	for _, e := range events.Items {
		if e.Regarding.Kind == "EtcdCluster" && e.EventTime.After(since.Time) {
			s.t.Errorf("event %s: %s", e.Reason, e.Note)
		}
	}
}
