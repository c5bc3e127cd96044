package etcd_test

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// proxy counts the connections that it passes on to a member.
type proxy struct {
	address     string
	made, ended atomic.Int32
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	config := net.ListenConfig{}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String()}
	var wg sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return // closed at the end of the test
			}
			p.made.Add(1)
			wg.Go(func() { p.pass(t, in, to) })
		}
	})
	return p
}

func (p *proxy) pass(t *testing.T, in net.Conn, to string) {
	defer p.ended.Add(1)
	defer func() { _ = in.Close() }()
	out, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Errorf("dial the member: %v", err)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
	_, _ = io.Copy(out, in)
	_ = out.Close()
	wg.Wait()
}

func TestPoolReuse(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 1)
	p := newProxy(t, c.Members[0].Address)
	pool := newPool(t)
	observe := func(cluster, podUID string) {
		t.Helper()
		e := etcd.Endpoint{Pod: "m-0", PodUID: podUID, Address: p.address}
		if s := pool.Observe(t.Context(), cluster, nil, voting(c.ID, []etcd.Endpoint{e}), []etcd.Endpoint{e}); s.Seen.Contact != plan.ContactQuorum {
			t.Fatalf("seen %+v", s.Seen)
		}
	}
	want := func(what string, made, ended int32) {
		t.Helper()
		eventually(t, what, func() bool { return p.made.Load() == made && p.ended.Load() == ended })
	}
	for range 3 {
		observe("default/a", "1")
	}
	want("one connection for all observations", 1, 0)
	observe("default/a", "2")
	want("a new pod at the same address has its own", 2, 1)
	observe("default/b", "2")
	want("and so has another cluster", 3, 1)
	pool.Forget("default/a")
	want("a deleted cluster has none", 3, 2)
	pool.Close()
	want("nobody has any at the end", 3, 3)
}

// TestCloseDuringDefragmentation has the operator end while a member is defragmented: it waits for nothing and keeps no connection, and etcd
// goes on.
func TestCloseDuringDefragmentation(t *testing.T) {
	m := embedtest.Start(t, 1).Members[0]
	p, pool, c := newProxy(t, m.Address), newPool(t), client(t, m)
	overwrite(t, c, 16) // more than a snapshot that nobody reads has sent already
	reading, stop := context.WithCancel(t.Context())
	defer stop()
	if _, err := c.Snapshot(reading); err != nil { // nobody reads on, so the defragmentation has to wait
		t.Fatal(err)
	}
	database(t, pool, true, false, m)
	eventually(t, "a snapshot", func() bool { return database(t, pool, true, false, m).Databases[0].Copied })
	e := endpoints(m)[0]
	e.Address = p.address
	if err := pool.BeginDefragment(t.Context(), t.Name(), nil, e); err != nil {
		t.Fatal(err)
	}
	eventually(t, "etcd at it", func() bool { return !database(t, newPool(t), true, false, m).Databases[0].Defragmenting.IsZero() })
	pool.Close()
	eventually(t, "no connection", func() bool { return p.made.Load() > 0 && p.ended.Load() == p.made.Load() })
	if database(t, newPool(t), true, false, m).Databases[0].Defragmenting.IsZero() {
		t.Error("etcd does not go on")
	}
	if finished := pool.TakeFinished(t.Name()); len(finished) > 0 {
		t.Errorf("it is told of: %+v", finished)
	}
}
