package snapshot

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

const rootPassword = "root-password" // #nosec G101 -- of a test

// runAuthenticated starts an etcd in a process of its own that has five keys, and authentication switched on.
func runAuthenticated(t *testing.T) clientv3.Config {
	t.Helper()
	server, _ := runEtcd(t, filepath.Join(t.TempDir(), "data"))
	c, err := clientv3.New(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	fill(t, c, 5)
	authenticate(t, c)
	return server
}

// authenticate makes users and switches authentication on. The user certified has no password, and the auditor may read all keys.
func authenticate(t *testing.T, c *clientv3.Client) {
	t.Helper()
	for name, password := range map[string]string{"root": rootPassword, "somebody": "some-password", "auditor": "audit-password"} {
		if _, err := c.UserAdd(t.Context(), name, password); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.UserAddWithOptions(t.Context(), "certified", "", &clientv3.UserAddOptions{NoPassword: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RoleAdd(t.Context(), "reader"); err != nil {
		t.Fatal(err)
	}
	// From the first key on, without an end.
	if _, err := c.RoleGrantPermission(t.Context(), "reader", "\x00", "\x00", clientv3.PermissionType(clientv3.PermRead)); err != nil {
		t.Fatal(err)
	}
	for user, role := range map[string]string{"root": "root", "auditor": "reader"} {
		if _, err := c.UserGrantRole(t.Context(), user, role); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// observed has servers log to the observer.
func observed(core zapcore.Core) func(*embed.Config) {
	return func(c *embed.Config) {
		c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(core, zap.WithPanicHook(zapcore.WriteThenGoexit)))
	}
}

// as is a configuration of a user who logs in.
func as(config clientv3.Config, user, password string) clientv3.Config {
	config.Username, config.Password = user, password
	return config
}

// TestAuthentication asks an etcd that lets no one take snapshots but root, and has it check a password once for a snapshot.
func TestAuthentication(t *testing.T) {
	core, said := observer.New(zapcore.DebugLevel)
	cluster := embedtest.Start(t, 3, observed(core))
	c := client(t, cluster)
	fill(t, c, 5)
	authenticate(t, c)
	known := map[any]bool{} // a member that lags may say of a login only when the next case has begun
	for title, k := range map[string]struct {
		user, password, want string
		logins, refusals     int
	}{
		"nobody":           {"", "", v1beta2.ReasonEtcdAccessDenied, 0, 0},
		"somebody":         {"somebody", "some-password", v1beta2.ReasonEtcdAccessDenied, 1, 0},
		"an auditor":       {"auditor", "audit-password", v1beta2.ReasonEtcdAccessDenied, 1, 0},
		"a stranger":       {"stranger", rootPassword, v1beta2.ReasonEtcdAccessDenied, 0, 1},
		"a wrong password": {"root", "wrong-password", v1beta2.ReasonEtcdAccessDenied, 0, 1},
		"no password":      {"certified", "any-password", v1beta2.ReasonEtcdAccessDenied, 0, 1},
		"root":             {"root", rootPassword, "", 1, 0},
	} {
		said.TakeAll()
		b, path := bucket(t)
		_, err := Save(t.Context(), b, FromEtcd(as(config(cluster), k.user, k.password), 0), job(Encoding{}))
		if reason(err) != k.want || err != nil && (!Explain(err).Terminal || k.password != "" && strings.Contains(err.Error(), k.password)) {
			t.Errorf("%s: got %v", title, err)
		}
		tokens := map[any]bool{}
		for _, e := range said.FilterMessage("authenticated a user").All() { // each member says so of each token
			if token := e.ContextMap()["token-fingerprint"]; !known[token] {
				tokens[token] = true
			}
		}
		maps.Copy(known, tokens)
		refusals := said.FilterMessage("invalid authentication was requested").Len()
		if len(tokens) != k.logins || refusals != k.refusals {
			t.Errorf("%s: %d logins and %d refusals, want %d and %d", title, len(tokens), refusals, k.logins, k.refusals)
		}
		if left := files(t, path); k.want != "" && len(left) > 0 {
			t.Errorf("%s: left %v", title, left)
		}
	}
}

// TestLoginTakesAQuorum: a login that nobody can decide on is none that was refused, and a member that is gone keeps nobody from another.
func TestLoginTakesAQuorum(t *testing.T) {
	cluster := embedtest.Start(t, 3)
	c := client(t, cluster)
	fill(t, c, 5)
	authenticate(t, c)
	login := as(config(cluster), "root", rootPassword)
	b, path := bucket(t)
	cluster.Members[0].Stop(t)
	if m := mustSave(t, b, FromEtcd(login, 0), job(Encoding{})); m.Stale {
		t.Errorf("two of three: got %+v", m)
	}
	before := len(files(t, path))
	cluster.Members[1].Stop(t)
	_, err := Save(t.Context(), b, FromEtcd(login, 0), job(Encoding{}))
	if p := Explain(err); err == nil || p.Terminal || p.Reason == v1beta2.ReasonEtcdAccessDenied || !strings.Contains(p.Message, "has a quorum") {
		t.Errorf("one of three: got %v", err)
	}
	if left := files(t, path); len(left) != before {
		t.Errorf("one of three: left %v", left)
	}
}

// TestLoginWithoutAuthentication has a password for an etcd that asks for none.
func TestLoginWithoutAuthentication(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	fill(t, client(t, cluster), 5)
	b, _ := bucket(t)
	if m := mustSave(t, b, FromEtcd(as(config(cluster), "root", rootPassword), 0), job(Encoding{})); m.Keys != 4 {
		t.Errorf("got %+v", m)
	}
}

// TestLoginExpires reads a snapshot on when etcd has forgotten the login that it began with.
func TestLoginExpires(t *testing.T) {
	core, said := observer.New(zapcore.DebugLevel)
	cluster := embedtest.Start(t, 1, observed(core), func(c *embed.Config) { c.AuthTokenTTL = 1 })
	c := client(t, cluster)
	for i := range 16 { // more than a connection buffers
		if _, err := c.Put(t.Context(), string(rune('a'+i)), strings.Repeat("x", 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	authenticate(t, c)
	b, _ := bucket(t)
	m := mustSave(t, b, func(ctx context.Context) (*Stream, error) {
		s, err := FromEtcd(as(config(cluster), "root", rootPassword), 0)(ctx)
		for err == nil && said.FilterMessage("deleted a simple token").Len() == 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
		if said.FilterMessage("successfully sent database snapshot to client").Len() > 0 {
			t.Error("all of the snapshot was sent before the login had expired")
		}
		return s, err
	}, job(Encoding{}))
	if m.Keys != 16 || m.Size < 16<<20 {
		t.Errorf("got %+v", m)
	}
}

// TestLoginOtherVersion logs in to an etcd of another minor version than the library's, which hashes passwords as etcd does by default.
func TestLoginOtherVersion(t *testing.T) {
	server := runAuthenticated(t)
	b, _ := bucket(t)
	if m := mustSave(t, b, FromEtcd(as(server, "root", rootPassword), 0), job(Encoding{})); m.Keys != 4 || strings.HasPrefix(m.EtcdVersion, "3.7.") {
		t.Errorf("got %+v", m)
	}
	for user, password := range map[string]string{
		"root": "wrong-password", "somebody": "some-password", "certified": "any-password", "auditor": "audit-password",
	} {
		_, err := Save(t.Context(), b, FromEtcd(as(server, user, password), 0), job(Encoding{}))
		if p := Explain(err); p.Reason != v1beta2.ReasonEtcdAccessDenied || !p.Terminal {
			t.Errorf("%s: got %v", user, err)
		}
	}
}
