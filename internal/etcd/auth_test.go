package etcd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// secured is one etcd that knows its clients by their certificates.
type secured struct {
	t        *testing.T
	ca       authority
	endpoint etcd.Endpoint
	cluster  uint64
	pool     *etcd.Pool
	configs  map[string]*tls.Config
}

// releases runs the test on the etcd that is linked, and on that of TEST_ASSET_ETCD.
func releases(t *testing.T, test func(*testing.T, *secured)) {
	t.Run("linked", func(t *testing.T) {
		ca := newAuthority(t)
		c := embedtest.Start(t, 1, ca.server(t))
		e := endpoints(c.Members...)[0]
		e.ServerName = serverName
		test(t, &secured{t, ca, e, c.ID, newPool(t), map[string]*tls.Config{}})
	})
	t.Run("program", func(t *testing.T) {
		program := os.Getenv("TEST_ASSET_ETCD")
		if program == "" {
			t.Fatal("TEST_ASSET_ETCD is not set: run this with `make test-unit`")
		}
		ca := newAuthority(t)
		authorities, certificate, key := ca.files(t)
		address, peer := free(t), "http://"+free(t)
		//nolint:noctx // it ends with the test, whose context ends too early
		server := exec.Command(program, "--name=m-0", "--data-dir="+t.TempDir(), "--listen-client-urls=https://"+address,
			"--advertise-client-urls=https://"+address, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
			"--initial-cluster=m-0="+peer, "--unsafe-no-fsync", "--log-level=error", "--client-cert-auth",
			"--trusted-ca-file="+authorities, "--cert-file="+certificate, "--key-file="+key)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
		s := &secured{t, ca, etcd.Endpoint{Pod: "m-0", PodUID: "uid-m-0", Address: address, ServerName: serverName}, 0, newPool(t), map[string]*tls.Config{}}
		eventually(t, "an answer", func() bool {
			list, err := s.client("root").MemberList(t.Context())
			if err == nil {
				s.cluster = list.Header.ClusterId
			}
			return err == nil
		})
		test(t, s)
	})
}

func free(t *testing.T) string {
	t.Helper()
	l := listener(t)
	defer func() { _ = l.Close() }()
	return net.JoinHostPort("127.0.0.1", strings.Split(l.Addr().String(), ":")[1])
}

// config is that of who has a certificate of that name, always the same one.
func (s *secured) config(name string) *tls.Config {
	s.t.Helper()
	if s.configs[name] == nil {
		s.configs[name] = s.ca.client(s.t, name)
	}
	return s.configs[name]
}

// session is an observation by who has a certificate of that name.
func (s *secured) session(name string) *etcd.Session {
	s.t.Helper()
	config := s.config(name)
	var seen *etcd.Session
	eventually(s.t, "an answer", func() bool {
		seen = s.pool.Observe(s.t.Context(), name, config, voting(s.cluster, []etcd.Endpoint{s.endpoint}), []etcd.Endpoint{s.endpoint})
		return seen.Seen.Contact == plan.ContactQuorum
	})
	return seen
}

// client is one with a certificate of that name.
func (s *secured) client(name string) *clientv3.Client {
	s.t.Helper()
	c, err := s.login(s.config(name), "", "")
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// login is who connects that way, and logs in if there is a user.
func (s *secured) login(config *tls.Config, user, password string) (*clientv3.Client, error) {
	s.t.Helper()
	to := clientv3.Config{
		Endpoints: []string{"https://" + s.endpoint.Address}, TLS: config, Logger: zap.NewNop(), Context: s.t.Context(),
		DialOptions: []grpc.DialOption{grpc.WithAuthority(serverName)}, DialTimeout: deadline,
		Username: user, Password: password,
	}
	c, err := clientv3.New(to)
	if err == nil {
		s.t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// may reports what etcd says to a write.
func (s *secured) may(c *clientv3.Client) error {
	_, err := c.Put(s.t.Context(), "key", "value")
	return err
}

// by reports whether root can log in with a password; whoever does it has a certificate that says nothing.
func (s *secured) by(password string) bool {
	s.t.Helper()
	c, err := s.login(s.config("client"), "root", password)
	if err == nil {
		err = s.may(c)
	}
	return err == nil
}

func (s *secured) enabled(session *etcd.Session, want bool) {
	s.t.Helper()
	if on, denied, err := session.AuthEnabled(s.t.Context()); on != want || denied != "" || err != nil {
		s.t.Errorf("it is on: %t, denied %q, %v; want %t", on, denied, err, want)
	}
}

// TestSwitchAuthentication switches it on and off, each twice, as an operator does that did not see the first answer.
func TestSwitchAuthentication(t *testing.T) {
	t.Parallel()
	releases(t, func(t *testing.T, s *secured) {
		// Anyone can be root before.
		for _, err := range []error{second(s.client("client").UserAdd(t.Context(), "root", "theirs")), second(s.client("client").UserAdd(t.Context(), "app", "app"))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		root := s.session("root")
		s.enabled(root, false)
		if root.EnableAuth(t.Context(), "") == nil {
			t.Error("root has an empty password")
		}
		s.enabled(root, false)
		for range 2 {
			succeeds(t, "on", func() error { return root.EnableAuth(t.Context(), "first") })
			s.enabled(root, true)
		}
		if err := s.may(s.client("root")); err != nil {
			t.Errorf("the operator: %v", err)
		}
		if err := s.may(s.client("client")); !errors.Is(err, rpctypes.ErrPermissionDenied) {
			t.Errorf("who is nobody: %v", err)
		}
		if s.by("theirs") || !s.by("first") {
			t.Error("root has another password")
		}
		for _, name := range []string{"app", "client"} {
			if _, denied, err := s.session(name).AuthEnabled(t.Context()); denied == "" || err != nil {
				t.Errorf("%s asks: %q, %v", name, denied, err)
			}
		}
		succeeds(t, "another password", func() error { return root.ChangeRootPassword(t.Context(), "second") })
		if s.by("first") || !s.by("second") {
			t.Error("root has the former password")
		}
		if root.ChangeRootPassword(t.Context(), "") == nil || root.EnableAuth(t.Context(), "") == nil || !s.by("second") {
			t.Error("root's password is emptied")
		}
		s.worksAsRoot()
		for range 2 {
			succeeds(t, "off", func() error { return root.DisableAuth(t.Context()) })
			s.enabled(root, false)
		}
		if err := s.may(s.client("client")); err != nil {
			t.Errorf("off, who is nobody: %v", err)
		}
		if _, err := s.client("client").UserGet(t.Context(), "app"); err != nil {
			t.Errorf("a user is gone: %v", err)
		}
	})
}

// worksAsRoot does what the operator does, where etcd asks who it is.
func (s *secured) worksAsRoot() {
	s.t.Helper()
	root := s.session("root")
	if root.Seen.Revision < 1 {
		s.t.Errorf("it observes %+v", root.Seen)
	}
	ctx, c := s.t.Context(), s.client("root")
	snapshot, err := c.Snapshot(ctx)
	if err != nil {
		s.t.Fatalf("a snapshot: %v", err)
	}
	_ = snapshot.Close()
	if err := root.CancelDowngrade(ctx); err != nil {
		s.t.Errorf("a downgrade is canceled: %v", err)
	}
	succeeds(s.t, "a learner", func() error { return root.AddLearner(ctx, "http://127.0.0.1:1") })
	root = s.session("root")
	if len(root.Seen.Members) != 2 {
		s.t.Fatalf("members %+v", root.Seen.Members)
	}
	for _, m := range root.Seen.Members {
		if m.Learner {
			succeeds(s.t, "it is removed", func() error { return root.Remove(ctx, m.ID) })
		}
	}
}

// TestRootWithoutPassword wants it to be said that a password cannot be given, because etcd does not say so.
func TestRootWithoutPassword(t *testing.T) {
	t.Parallel()
	releases(t, func(t *testing.T, s *secured) {
		c := s.client("root")
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		for i, err := range []error{
			second(c.UserAddWithOptions(ctx, "root", "", &clientv3.UserAddOptions{NoPassword: true})),
			second(c.UserGrantRole(ctx, "root", "root")), second(c.AuthEnable(ctx)),
		} {
			if err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		root := s.session("root")
		if err := root.ChangeRootPassword(ctx, "first"); !errors.Is(err, etcd.ErrNoPassword) {
			t.Errorf("a password: %v", err)
		}
		if err := root.EnableAuth(ctx, "first"); !errors.Is(err, etcd.ErrNoPassword) {
			t.Errorf("on again: %v", err)
		}
		succeeds(t, "off", func() error { return root.DisableAuth(ctx) })
		succeeds(t, "on", func() error { return root.EnableAuth(ctx, "first") })
		if !s.by("first") {
			t.Error("root cannot log in")
		}
	})
}

func second[T any](_ T, err error) error { return err }
