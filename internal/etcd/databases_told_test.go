package etcd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// told has a member's metrics be looked at once after the other, as what serves them tells: what it serves in one look, and nothing where that
// is empty. The cluster is at revision 100.
func told(t *testing.T, looks ...string) (found []plan.Database) {
	t.Helper()
	now := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if now == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = fmt.Fprint(w, now)
	}))
	t.Cleanup(server.Close)
	pool := newPool(t)
	of := []etcd.Endpoint{{Pod: "c-0", PodUID: "uid", Metrics: strings.TrimPrefix(server.URL, "http://")}}
	for _, now = range looks {
		seen := plan.Etcd{Contact: plan.ContactQuorum, Members: []plan.Member{{ID: 1, Name: "c-0"}}, Revision: 100}
		seen.Answers = []plan.Answer{{Pod: "c-0", PodUID: "uid", MemberID: 1}}
		pool.Databases(t.Context(), t.Name(), &seen, of, true, false)
		found = append(found, seen.Databases...)
	}
	return found
}

// metricsText is what a member serves of its database.
func metricsText(defragmenting, compacted, removed string) string {
	return "# TYPE etcd_disk_defrag_inflight gauge\netcd_disk_defrag_inflight " + defragmenting +
		"\n# TYPE etcd_debugging_mvcc_compact_revision gauge\netcd_debugging_mvcc_compact_revision " + compacted +
		"\n# TYPE etcd_debugging_mvcc_db_compaction_keys_total counter\netcd_debugging_mvcc_db_compaction_keys_total " + removed + "\n"
}

// TestDefragmentedUntilItIsTold takes a member that was seen to be defragmented for one until its metrics tell otherwise, since the same time:
// a look that finds none tells neither.
func TestDefragmentedUntilItIsTold(t *testing.T) {
	busy, done := metricsText("1", "90", "0"), metricsText("0", "90", "0")
	found := told(t, busy, "", busy, done, busy)
	since := found[0].Defragmenting
	for i, c := range []struct{ known, same, is bool }{{true, true, true}, {false, true, true}, {true, true, true}, {true, false, false}, {true, false, true}} {
		d := found[i]
		if d.Known != c.known || d.Defragmenting.Equal(since) != c.same || d.Defragmenting.IsZero() == c.is {
			t.Errorf("look %d: %+v, and it was since %s", i, d, since)
		}
	}
}

// TestMetricsOfNoEtcd believes no numbers that etcd cannot have: they would hold back what is due in the whole cluster.
func TestMetricsOfNoEtcd(t *testing.T) {
	for text, known := range map[string]bool{
		metricsText("0", "100", "7"): true, metricsText("0", "101", "7"): false, metricsText("0", "-1", "7"): true, metricsText("0", "-2", "7"): false,
		metricsText("0", "NaN", "7"): false, metricsText("0", "1e300", "7"): false, metricsText("0", "+Inf", "7"): false,
		metricsText("NaN", "90", "7"): false, metricsText("0", "90", "1e300"): false, metricsText("0", "90", "NaN"): false,
	} {
		if d := told(t, text)[0]; d.Known != known || !known && (d.Compacted != 0 || d.Removed != 0) {
			t.Errorf("%s%+v", text, d)
		}
	}
}
