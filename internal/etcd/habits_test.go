package etcd_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestMembersTellTheirFigures wants a real etcd to have every metric that its habits are made of.
func TestMembersTellTheirFigures(t *testing.T) {
	w := newComparedWorld(t, 2)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.members[0].address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{
		"etcd_disk_wal_fsync_duration_seconds_sum ": true, "etcd_disk_wal_fsync_duration_seconds_count ": true,
		"etcd_server_apply_duration_seconds_sum{": true, "etcd_server_apply_duration_seconds_count{": true,
		"etcd_server_leader_changes_seen_total ": true, "etcd_disk_backend_defrag_duration_seconds_count ": true,
		"process_cpu_seconds_total ": true, "process_resident_memory_bytes ": true, "process_start_time_seconds ": true, "go_memstats_heap_sys_bytes ": true,
		"etcd_disk_defrag_inflight ": true, `grpc_method="Snapshot"`: true,
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		for name := range missing {
			if strings.Contains(lines.Text(), name) {
				delete(missing, name)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("etcd does not tell %v", missing)
	}
}

// TestHabitsAskOnce wants members to be asked once in the usual time, whoever needs their metrics, and known as learning meanwhile.
func TestHabitsAskOnce(t *testing.T) {
	w := newComparedWorld(t, 3)
	w.pool.SampleEvery = time.Hour
	s := w.pool.Observe(t.Context(), t.Name(), nil, voting(w.id, w.endpoints), w.endpoints)
	eventually(t, "all voters", func() bool {
		s = w.pool.Observe(t.Context(), t.Name(), nil, voting(w.id, w.endpoints), w.endpoints)
		return s.Seen.Contact == plan.ContactQuorum && len(s.Seen.Answers) == 3
	})
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
		w.pool.Compare(t.Context(), t.Name(), s)
		w.pool.Usages(t.Context(), t.Name(), s)
		w.pool.Habits(t.Context(), t.Name(), s, true)
	}
	if n := asked() - before; n != 3 { // by this test
		t.Errorf("the members were asked %.0f times more", n)
	}
}
