package etcd_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// TestAlarmed asks a real etcd, by plain HTTP, before an alarm is raised, while it is, and once it is disarmed.
func TestAlarmed(t *testing.T) {
	m := embedtest.Start(t, 1).Members[0]
	of := []etcd.Endpoint{{Metrics: m.Address}} // where it serves metrics and its health, too
	c := client(t, m)
	for _, kind := range []pb.AlarmType{pb.AlarmType_NOSPACE, pb.AlarmType_CORRUPT} {
		if etcd.Alarmed(t.Context(), of) {
			t.Fatal("there is an alarm before one is raised")
		}
		alarm := pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: m.ID(), Alarm: kind}
		if _, err := pb.NewMaintenanceClient(c.ActiveConnection()).Alarm(t.Context(), &alarm); err != nil {
			t.Fatal(err)
		}
		if !etcd.Alarmed(t.Context(), of) {
			t.Errorf("it does not tell of %s", kind)
		}
		alarm.Action = pb.AlarmRequest_DEACTIVATE
		if _, err := pb.NewMaintenanceClient(c.ActiveConnection()).Alarm(t.Context(), &alarm); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhoIsAsked takes the word of the first member that answers, and nothing else for an alarm.
func TestWhoIsAsked(t *testing.T) {
	says := func(code int, text string) etcd.Endpoint {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/health" || r.URL.Query().Get("serializable") != "true" {
				t.Errorf("it asks for %s", r.URL)
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(text))
		}))
		t.Cleanup(server.Close)
		return etcd.Endpoint{Metrics: strings.TrimPrefix(server.URL, "http://")}
	}
	well, full := says(http.StatusOK, `{"health":"true","reason":""}`), says(http.StatusServiceUnavailable, `{"health":"false","reason":"ALARM NOSPACE"}`)
	leaderless := says(http.StatusServiceUnavailable, `{"health":"false","reason":"RAFT NO LEADER"}`)
	other, gone := says(http.StatusNotFound, "404 page not found"), etcd.Endpoint{Metrics: "127.0.0.1:1"}
	for title, c := range map[string]struct {
		members []etcd.Endpoint
		want    bool
	}{
		"nobody":              {nil, false},
		"none that answers":   {[]etcd.Endpoint{gone, {}}, false},
		"one that is well":    {[]etcd.Endpoint{well, full}, false},
		"one with an alarm":   {[]etcd.Endpoint{full, well}, true},
		"the next one":        {[]etcd.Endpoint{gone, other, full}, true},
		"one without leader":  {[]etcd.Endpoint{leaderless}, false},
		"one that says a lot": {[]etcd.Endpoint{says(http.StatusOK, `{"reason":"ALARM `+strings.Repeat("x", 1<<20)+`"}`)}, false},
	} {
		if got := etcd.Alarmed(t.Context(), c.members); got != c.want {
			t.Errorf("%s: %t", title, got)
		}
	}
}

// TestNothingRestsAsItIsCompacted takes the time before a compaction for nothing: pages that are not free yet rest, too.
func TestNothingRestsAsItIsCompacted(t *testing.T) {
	m, pool := embedtest.Start(t, 1).Members[0], newPool(t)
	rests := func() bool { return database(t, pool, true, false, m).Databases[0].Rests }
	eventually(t, "it rests", rests)
	pool.NoteCompaction(t.Name(), time.Now())
	if rests() {
		t.Error("it rests as soon as it is asked to compact")
	}
	eventually(t, "it rests again", rests)
}
