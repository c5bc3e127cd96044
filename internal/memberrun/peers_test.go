package memberrun

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestBeginnable asks another initial member about this one, db-0, which has an empty directory.
func TestBeginnable(t *testing.T) {
	const started, notStarted = `[{"id":2,"name":"db-0","peerURLs":["http://db-0"],"clientURLs":["http://db-0"]}]`, `[{"id":2,"name":"db-0","peerURLs":["http://db-0"]}]`
	answers := func(cluster, list string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Etcd-Cluster-ID", cluster)
			_, _ = w.Write([]byte(list))
		}
	}
	for title, c := range map[string]struct {
		other   http.HandlerFunc // nil if nobody listens
		unknown bool
		want    error
	}{
		"it was started":                   {answers("1", started), false, errStarted},
		"it was not":                       {answers("1", notStarted), false, nil},
		"nobody listens yet":               {nil, false, nil},
		"a member of another cluster":      {answers("9", started), false, nil},
		"whoever is there is no member":    {http.NotFound, false, nil},
		"a proxy does not reach it":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, true, nil},
		"the connection ends, as at reset": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, nil},
	} {
		t.Run(title, func(t *testing.T) {
			other := httptest.NewServer(c.other)
			defer other.Close()
			if c.other == nil {
				other.Close()
			}
			permit := &member.Permit{ClusterID: 1, MemberID: 2, InitialCluster: "db-0=http://db-0,db-1=" + other.URL}
			err := beginnable(t.Context(), http.DefaultClient, "db-0", permit)
			if c.unknown != (err != nil && !errors.Is(err, errStarted)) || !c.unknown && !errors.Is(err, c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	permit := &member.Permit{ClusterID: 1, MemberID: 2, InitialCluster: "db-0=http://db-0,db-1=http://127.0.0.1:1"}
	if err := beginnable(ctx, http.DefaultClient, "db-0", permit); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("what is not asked is taken for known: %v", err)
	}
}

// TestJoinable asks two members about the learner db-0, of which etcd would believe the first.
func TestJoinable(t *testing.T) {
	list := func(title, clientURL string, others ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Etcd-Cluster-ID", "1")
			members := fmt.Sprintf(`{"id":2,"name":"db-0","peerURLs":["http://db-0"],"clientURLs":[%s]}`, clientURL)
			for _, url := range others {
				members += fmt.Sprintf(`,{"id":3,"name":%q,"peerURLs":[%q],"clientURLs":["http://db"]}`, title, url)
			}
			_, _ = w.Write([]byte("[" + members + "]"))
		}
	}
	const started = `"http://db-0"`
	for title, c := range map[string]struct {
		clientURLs       [2]string // of the learner, as each of the members lists it
		firstLacks, gone bool      // the first one has not heard of all members; the second one is gone
		want             string
	}{
		"none has seen it start":             {},
		"the second has seen it start":       {clientURLs: [2]string{"", started}, want: errStarted.Error()},
		"the second has, the first lags":     {clientURLs: [2]string{"", started}, firstLacks: true, want: errStarted.Error()},
		"the first lags":                     {firstLacks: true, want: "instead of"},
		"the second is gone":                 {gone: true},
		"the first lags, the second is gone": {firstLacks: true, gone: true, want: "instead of"},
	} {
		t.Run(title, func(t *testing.T) {
			servers := []*httptest.Server{httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)}
			slices.SortFunc(servers, func(a, b *httptest.Server) int { return strings.Compare(address(a), address(b)) })
			all := []string{address(servers[0]), address(servers[1])}
			for i, server := range servers {
				known := all
				if i == 0 && c.firstLacks {
					known = all[:1]
				}
				server.Config.Handler = list("db", c.clientURLs[i], known...)
				server.Start()
				defer server.Close()
			}
			if c.gone {
				servers[1].Close()
			}
			permit := &member.Permit{ClusterID: 1, MemberID: 2, InitialCluster: "db-0=http://db-0,db-1=" + all[0] + ",db-2=" + all[1]}
			err := joinable(t.Context(), http.DefaultClient, "db-0", permit)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// address is the URL of a server that may not have started yet.
func address(s *httptest.Server) string { return "http://" + s.Listener.Addr().String() }
