package memberrun

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
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
