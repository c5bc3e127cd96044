package etcd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/etcdpilot/etcd-operator/internal/access"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// administered is an etcd server, and who the operator is there.
type administered struct {
	address string
	id      uint64
	config  *tls.Config
	ca      authority
}

// runProgram runs the etcd of TEST_ASSET_ETCD, which is of another minor version than this package's library.
func runProgram(t *testing.T) administered {
	t.Helper()
	program := os.Getenv("TEST_ASSET_ETCD")
	if program == "" {
		t.Fatal("TEST_ASSET_ETCD is not set: run this with `make test-unit`")
	}
	a := administered{ca: newAuthority(t), address: freeAddress(t)}
	a.config = a.ca.client(t, "root")
	files := embed.NewConfig() // for the names of the files with certificates
	a.ca.server(t)(files)
	peer, info := "http://"+freeAddress(t), files.ClientTLSInfo
	//nolint:noctx // it ends with the test, whose context ends too early
	server := exec.Command(program, "--name=m-0", "--data-dir="+filepath.Join(t.TempDir(), "data"),
		"--listen-client-urls=https://"+a.address, "--advertise-client-urls=https://"+a.address,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=m-0="+peer,
		"--cert-file="+info.CertFile, "--key-file="+info.KeyFile, "--trusted-ca-file="+info.TrustedCAFile, "--client-cert-auth",
		"--unsafe-no-fsync", "--log-level=error")
	server.Stderr = t.Output()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
	c := a.client(t, clientv3.Config{TLS: a.config})
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	list, err := c.MemberList(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.id = list.Header.ClusterId
	return a
}

// given are the ports that this process has had from freeAddress.
var given sync.Map

// freeAddress is one that a server may listen at later: below the ports that Linux gives to connections, or one might have it by then.
func freeAddress(t *testing.T) string {
	t.Helper()
	const lowest, ephemeral = 20000, 32768
	for {
		port := lowest + rand.IntN(ephemeral-lowest)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if _, twice := given.LoadOrStore(port, true); twice {
			continue
		}
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
}

func (a administered) client(t *testing.T, config clientv3.Config) *clientv3.Client {
	t.Helper()
	config.Endpoints, config.Logger = []string{"https://" + a.address}, zap.NewNop()
	config.DialOptions = []grpc.DialOption{grpc.WithAuthority(serverName), grpc.WithBlock()} //nolint:staticcheck // the server starts
	config.DialTimeout = deadline
	c, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (a administered) administer(t *testing.T) *etcd.Accounts {
	t.Helper()
	var to *etcd.Accounts
	succeeds(t, "a connection", func() (err error) {
		to, err = etcd.Administer(t.Context(), a.config, a.id, []etcd.Endpoint{
			{Pod: "m-9", Address: "127.0.0.1:1", ServerName: serverName}, {Pod: "m-0", Address: a.address, ServerName: serverName},
		})
		return err
	})
	t.Cleanup(to.Close)
	return to
}

func do(t *testing.T, to *etcd.Accounts, password string, calls ...access.Call) {
	t.Helper()
	for _, call := range calls {
		if err := to.Do(t.Context(), call, password); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAccounts makes users and roles in real servers of two minor versions, before and after authentication is enabled.
func TestAccounts(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) administered{
		"embedded": func(t *testing.T) administered {
			ca := newAuthority(t)
			c := embedtest.Start(t, 1, ca.server(t))
			return administered{c.Members[0].Address, c.ID, ca.client(t, "root"), ca}
		},
		"program": runProgram,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := start(t)
			to := a.administer(t)
			changesRoles(t, to)
			changesUsers(t, a, to)
			enableAuth(t, clientv3.Config{
				Endpoints: []string{"https://" + a.address}, TLS: a.config, Logger: zap.NewNop(),
				DialOptions: []grpc.DialOption{grpc.WithAuthority(serverName)},
			})
			changesRoles(t, to)
			logsIn(t, a, to)
		})
	}
}

// changesRoles turns a role into random other ones, and reads them.
func changesRoles(t *testing.T, to *etcd.Accounts) {
	random := rand.New(rand.NewPCG(3, 4))
	var ranges []access.Range
	for _, prefix := range []string{"", "/a", "/a/b"} {
		ranges = append(ranges, access.Prefix(prefix), access.Range{Key: "/a" + prefix}, access.Range{Key: "/a", RangeEnd: "/z" + prefix})
	}
	for range 60 {
		want := map[access.Range]access.Rights{}
		var list []access.Permission
		for _, r := range ranges {
			if rights := access.Rights(random.IntN(4)); rights != 0 {
				want[r], list = rights, append(list, access.Permission{Range: r, Rights: rights})
			}
		}
		have, found, err := to.Role(t.Context(), "changing")
		if err != nil {
			t.Fatal(err)
		}
		do(t, to, "", access.Role("changing", found, have, list)...)
		have, _, err = to.Role(t.Context(), "changing")
		if err != nil {
			t.Fatal(err)
		}
		if again := access.Role("changing", true, have, list); len(again) > 0 {
			t.Fatalf("it is %v and has to be %v: %v", have, list, again)
		}
		for _, p := range have {
			if p.Rights&^want[p.Range] != 0 {
				t.Fatalf("it is %v and has to be %v", have, list)
			}
		}
	}
	do(t, to, "", access.DeleteRole{Name: "changing"}, access.DeleteRole{Name: "changing"})
	if _, found, err := to.Role(t.Context(), "changing"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

func changesUsers(t *testing.T, a administered, to *etcd.Accounts) {
	do(t, to, "", access.Role("app", false, nil, []access.Permission{{Range: access.Prefix("/app/"), Rights: access.Read}})...)
	do(t, to, "first", access.User("byname", nil, access.Wanted{Password: true, Version: "1", Roles: []string{"app"}})...)
	do(t, to, "", access.User("bycn", nil, access.Wanted{Roles: []string{"app"}})...)
	roles, found, err := to.User(t.Context(), "byname")
	if err != nil || !found || !slices.Equal(roles, []string{"app"}) {
		t.Fatalf("roles %v, found %v, %v", roles, found, err)
	}
	if _, found, err = to.User(t.Context(), "nobody"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if err = to.Do(t.Context(), access.AddUser{Name: "unknown", Password: true}, ""); err == nil {
		t.Error("a user with an unknown password was created")
	}
	if err = to.Do(t.Context(), access.SetPassword{Name: "byname"}, ""); err == nil {
		t.Error("a user has an empty password")
	}
	_, err = etcd.Administer(t.Context(), a.config, a.id+1, []etcd.Endpoint{{Address: a.address, ServerName: serverName}})
	if !errors.Is(err, etcd.ErrNotYet) {
		t.Errorf("another cluster: %v", err)
	}
}

// logsIn wants users to be who they are now, and passwords to end with the next one.
func logsIn(t *testing.T, a administered, to *etcd.Accounts) {
	reads := func(config clientv3.Config) error {
		if config.Username != "" {
			config.TLS = a.ca.client(t, "")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		config.Endpoints, config.Logger = []string{"https://" + a.address}, zap.NewNop()
		config.DialOptions = []grpc.DialOption{grpc.WithAuthority(serverName)}
		config.Context = ctx
		c, err := clientv3.New(config)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, err = c.Get(ctx, "/app/", clientv3.WithPrefix())
		return err
	}
	first, second := clientv3.Config{Username: "byname", Password: "first"}, clientv3.Config{Username: "byname", Password: "second"}
	cn := clientv3.Config{TLS: a.ca.client(t, "bycn")}
	expect := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	expect("a password", reads(first), nil)
	expect("a certificate", reads(cn), nil)
	do(t, to, "second", access.SetPassword{Name: "byname"})
	expect("the password of before", reads(first), rpctypes.ErrAuthFailed)
	expect("the present password", reads(second), nil)
	do(t, to, "", access.RevokeRole{User: "bycn", Role: "app"}, access.RevokeRole{User: "bycn", Role: "app"})
	expect("without the role", reads(cn), rpctypes.ErrPermissionDenied)
	do(t, to, "", access.DeleteUser{Name: "byname"}, access.DeleteUser{Name: "byname"})
	expect("a user that is gone", reads(second), rpctypes.ErrAuthFailed)
}
