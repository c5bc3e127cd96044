package etcd_test

import (
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestMembersTellTheirFigures wants a real etcd to have every metric that its habits are made of.
func TestMembersTellTheirFigures(t *testing.T) {
	w := newComparedWorld(t, 2)
	missing := map[string]bool{
		"etcd_disk_wal_fsync_duration_seconds_sum ": true, "etcd_disk_wal_fsync_duration_seconds_count ": true,
		"etcd_server_apply_duration_seconds_sum{": true, "etcd_server_apply_duration_seconds_count{": true,
		"etcd_server_leader_changes_seen_total ": true, "etcd_disk_backend_defrag_duration_seconds_count ": true,
		"process_cpu_seconds_total ": true, "process_resident_memory_bytes ": true, "go_memstats_heap_sys_bytes ": true,
		"etcd_disk_defrag_inflight ": true, `grpc_method="Snapshot"`: true, "process_start_time_seconds ": true,
	}
	if runtime.GOOS != "linux" {
		delete(missing, "process_start_time_seconds ")
	}
	for line := range strings.Lines(w.members[0].metrics(t)) {
		for name := range missing {
			if strings.Contains(line, name) {
				delete(missing, name)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("etcd does not tell %v", missing)
	}
}

// TestMembersTellOfProbes wants the histogram of a real etcd's probes to have the buckets that anomaly.Probes has. It is there once a member has
// probed another one, which takes five seconds.
func TestMembersTellOfProbes(t *testing.T) {
	w := newComparedWorld(t, 2)
	bucket := regexp.MustCompile(`(?m)^etcd_network_peer_round_trip_time_seconds_bucket\{To="[0-9a-f]{1,16}",le="([^"]+)"\} \d+$`)
	sum := regexp.MustCompile(`(?m)^etcd_network_peer_round_trip_time_seconds_sum\{To="[0-9a-f]{1,16}"\} [0-9.e-]+$`)
	var text string
	eventually(t, "probes", func() bool {
		text = w.members[0].metrics(t)
		return strings.Contains(text, "etcd_network_peer_round_trip_time_seconds")
	})
	var bounds []string
	for _, found := range bucket.FindAllStringSubmatch(text, -1) {
		bounds = append(bounds, found[1])
	}
	var want []string
	for i := range len(anomaly.Buckets{}) - 1 {
		want = append(want, strconv.FormatFloat(0.0001*float64(int(1)<<i), 'g', -1, 64))
	}
	if want = append(want, "+Inf"); !slices.Equal(bounds, want) || !sum.MatchString(text) {
		t.Errorf("etcd's buckets are %v, want %v; their sum is there: %t", bounds, want, sum.MatchString(text))
	}
}

// TestHabitsAskOnce wants members to be asked once in the usual time, whoever needs their metrics, and known as learning meanwhile.
func TestHabitsAskOnce(t *testing.T) {
	w := newComparedWorld(t, 3)
	s := w.pool.Observe(t.Context(), t.Name(), nil, voting(w.id, w.endpoints), w.endpoints)
	eventually(t, "all voters", func() bool {
		s = w.pool.Observe(t.Context(), t.Name(), nil, voting(w.id, w.endpoints), w.endpoints)
		return s.Seen.Contact == plan.ContactQuorum && len(s.Seen.Answers) == 3
	})
	w.pool.Usages(t.Context(), t.Name(), s) // so that the first time has come
	w.pool.SampleEvery = time.Hour
	r := w.pool.Habits(t.Context(), t.Name(), s, true)
	if len(r.Learning) != 3 || len(r.Known) != 0 || len(r.Deviations) != 0 {
		t.Errorf("at first: %+v", r)
	}
	asked := func() (n float64) {
		for _, m := range w.members {
			n += m.metric(t, "promhttp_metric_handler_requests_total{code=\"200\"}")
		}
		return n
	}
	before := asked()
	for range 5 {
		if _, again := w.pool.Compare(t.Context(), t.Name(), s); again != 0 {
			t.Errorf("nothing is to be confirmed, and it asks to be called again in %s", again)
		}
		w.pool.Usages(t.Context(), t.Name(), s)
		w.pool.Habits(t.Context(), t.Name(), s, true)
	}
	if n := asked() - before; n != 3 { // by this test
		t.Errorf("the members were asked %.0f times more", n)
	}
}
