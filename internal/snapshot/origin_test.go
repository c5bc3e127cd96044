package snapshot

import (
	"errors"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// TestOrigins has endpoints that lead to two etcd clusters. Neither's data is saved, whoever is first and whoever wants a password.
func TestOrigins(t *testing.T) {
	open, other, closed, alike := embedtest.Start(t, 1), embedtest.Start(t, 1), embedtest.Start(t, 1), embedtest.Start(t, 1)
	for _, cluster := range []*embedtest.Cluster{open, other, closed, alike} {
		fill(t, client(t, cluster), 5)
	}
	authenticate(t, client(t, closed))
	authenticate(t, client(t, alike))
	for title, c := range map[string]struct {
		a, b           *embedtest.Cluster
		user, password string
	}{
		"without authentication":                        {a: open, b: other},
		"one with authentication, and no password":      {a: open, b: closed},
		"one with authentication, and its password":     {open, closed, "root", rootPassword},
		"one with authentication, and a wrong password": {open, closed, "root", "wrong-password"},
		"two that take the same password":               {closed, alike, "root", rootPassword},
	} {
		for order, endpoints := range map[string][]string{
			"":         slices.Concat(config(c.a).Endpoints, config(c.b).Endpoints),
			", turned": slices.Concat(config(c.b).Endpoints, config(c.a).Endpoints),
		} {
			t.Run(title+order, func(t *testing.T) {
				both := as(config(c.a), c.user, c.password)
				both.Endpoints = endpoints
				refused(t, both, c.a, c.b)
			})
		}
	}
}

// refused wants nothing to be saved, and it to be said which endpoint leads to which cluster.
func refused(t *testing.T, of clientv3.Config, clusters ...*embedtest.Cluster) {
	t.Helper()
	b, path := bucket(t)
	_, err := Save(t.Context(), b, FromEtcd(of, 0), job(Encoding{}))
	if reason(err) != v1beta2.ReasonEtcdForeign || !Explain(err).Terminal {
		t.Fatalf("got %v", err)
	}
	for _, c := range clusters {
		if says := config(c).Endpoints[0] + " to " + hexadecimal(c.ID); !strings.Contains(err.Error(), says) {
			t.Errorf("it does not say %q: %v", says, err)
		}
	}
	if left := files(t, path); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestOriginOfOtherVersion asks an etcd of another minor version than the library's, with authentication on, for its cluster ID.
func TestOriginOfOtherVersion(t *testing.T) {
	server, stranger := runAuthenticated(t), embedtest.Start(t, 1)
	both := as(server, "root", rootPassword)
	both.Endpoints = slices.Concat(config(stranger).Endpoints, server.Endpoints)
	refused(t, both, stranger)
}

// TestOriginIsOne takes the snapshot where one endpoint leads nowhere and all others to one cluster, with a password and without.
func TestOriginIsOne(t *testing.T) {
	cluster := embedtest.Start(t, 2)
	c := client(t, cluster)
	fill(t, c, 5)
	all := config(cluster)
	all.Endpoints = append([]string{"http://127.0.0.1:1"}, all.Endpoints...)
	b, _ := bucket(t)
	if m := mustSave(t, b, FromEtcd(all, 0), job(Encoding{})); m.Keys != 4 {
		t.Errorf("got %+v", m)
	}
	authenticate(t, c)
	if m := mustSave(t, b, FromEtcd(as(all, "root", rootPassword), 0), job(Encoding{})); m.Keys != 4 || m.Stale {
		t.Errorf("with a password: got %+v", m)
	}
}

// TestExpectedOrigin names only the endpoints that lead elsewhere than a cluster's own do.
func TestExpectedOrigin(t *testing.T) {
	cluster, stranger := embedtest.Start(t, 1), embedtest.Start(t, 1)
	both := config(cluster)
	both.Endpoints = append(both.Endpoints, config(stranger).Endpoints...)
	_, err := FromEtcd(both, cluster.ID)(t.Context())
	if reason(err) != v1beta2.ReasonEtcdForeign || !strings.Contains(err.Error(), config(stranger).Endpoints[0]+" to "+hexadecimal(stranger.ID)) ||
		strings.Contains(err.Error(), config(cluster).Endpoints[0]) || !strings.Contains(err.Error(), hexadecimal(cluster.ID)) {
		t.Errorf("got %v", err)
	}
}

// TestAgree wants the same of origins in any order, also if one does not say its cluster ID.
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		a, b, expected, want uint64
		elsewhere            string
	}{
		{a: 0, b: 5, want: 5},
		{a: 0, b: 5, expected: 5, want: 5},
		{a: 0, b: 0, expected: 5, want: 5},
		{a: 0, b: 10, expected: 5, elsewhere: "a"},
		{a: 10, b: 10, expected: 5, elsewhere: "a"},
		{a: 5, b: 10},
		{a: 5, b: 10, expected: 5},
		{a: 10, b: 11, expected: 5},
	} {
		for _, origins := range [][]origin{{{"a", c.a}, {"b", c.b}}, {{"a", c.b}, {"b", c.a}}} {
			id, err := agree(origins, c.expected)
			if id != c.want || (err == nil) != (c.want != 0) || err != nil && reason(err) != v1beta2.ReasonEtcdForeign {
				t.Errorf("%v, expected %d: got %d, %v", origins, c.expected, id, err)
			}
			e, is := errors.AsType[*ElsewhereError](err)
			if is != (c.elsewhere != "") || is && e.ClusterID != c.elsewhere {
				t.Errorf("%v, expected %d: got %+v", origins, c.expected, e)
			}
		}
	}
}
