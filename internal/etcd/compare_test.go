package etcd_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// program is an etcd in a process of its own: those of package embedtest have their metrics in common.
type program struct {
	name, address, dir string
	args               []string
	process            *exec.Cmd
}

// programs are a cluster of them, which end with the test.
func programs(t *testing.T, n int) []*program {
	t.Helper()
	var all []*program
	var initial []string
	for i := range n {
		name, client, peer := fmt.Sprintf("m-%d", i), freeAddress(t), freeAddress(t)
		p := &program{name: name, address: client, dir: filepath.Join(t.TempDir(), name)}
		p.args = []string{
			"--name=" + name, "--data-dir=" + p.dir, "--listen-client-urls=http://" + client, "--advertise-client-urls=http://" + client,
			"--listen-peer-urls=http://" + peer, "--initial-advertise-peer-urls=http://" + peer, "--unsafe-no-fsync", "--log-level=error",
		}
		initial = append(initial, name+"=http://"+peer)
		all = append(all, p)
	}
	for _, p := range all {
		p.args = append(p.args, "--initial-cluster="+strings.Join(initial, ","))
		p.start(t)
		t.Cleanup(func() { p.stop() })
	}
	return all
}

func (p *program) start(t *testing.T) {
	t.Helper()
	path := os.Getenv("TEST_ASSET_ETCD")
	if path == "" {
		t.Fatal("TEST_ASSET_ETCD is not set: run this with `make test-unit`")
	}
	p.process = exec.Command(path, p.args...) //nolint:gosec,noctx // it ends with the test, whose context ends too early
	p.process.Stderr = t.Output()
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
}

func (p *program) stop() {
	_ = p.process.Process.Kill()
	_ = p.process.Wait() // it was killed
}

// diverge changes the first value in the member's database, as no etcd would.
func (p *program) diverge(t *testing.T) {
	t.Helper()
	p.stop()
	db, err := bbolt.Open(filepath.Join(p.dir, "member", "snap", "db"), 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte("key"))
		key, value := bucket.Cursor().First()
		kv := &mvccpb.KeyValue{}
		if err := proto.Unmarshal(value, kv); err != nil {
			return err
		}
		kv.Value = []byte("wrong")
		value, err := proto.Marshal(kv)
		if err != nil {
			return err
		}
		return bucket.Put(key, value)
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.start(t)
}

// metric is the value of one without labels.
func (p *program) metric(t *testing.T, name string) float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no metric %s", p.name, name)
	return 0
}

// comparedWorld is a cluster of etcds whose data is compared.
type comparedWorld struct {
	members   []*program
	pool      *etcd.Pool
	client    *clientv3.Client
	endpoints []etcd.Endpoint
	id        uint64
}

func newComparedWorld(t *testing.T, n int) *comparedWorld {
	t.Helper()
	w := &comparedWorld{members: programs(t, n), pool: newPool(t)}
	w.pool.SampleEvery = time.Nanosecond
	var urls []string
	for _, p := range w.members {
		w.endpoints = append(w.endpoints, etcd.Endpoint{Pod: p.name, PodUID: "uid-" + p.name, Address: p.address, Metrics: p.address})
		urls = append(urls, "http://"+p.address)
	}
	var err error
	if w.client, err = clientv3.New(clientv3.Config{Endpoints: urls, Logger: zap.NewNop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.client.Close() })
	eventually(t, "a cluster", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		put, err := w.client.Put(ctx, "stays", "right") // no compaction deletes the only revision of a key
		if err == nil {
			w.id = put.Header.GetClusterId()
		}
		return err == nil
	})
	return w
}

// compares looks once all voters follow a leader.
func (w *comparedWorld) compares(t *testing.T) []plan.Comparison {
	t.Helper()
	var found []plan.Comparison
	eventually(t, "all voters", func() bool {
		s := w.pool.Observe(t.Context(), t.Name(), nil, voting(w.id, w.endpoints), w.endpoints)
		for _, a := range s.Seen.Answers {
			if a.Leader == 0 {
				return false
			}
		}
		if len(s.Seen.Answers) < len(w.members) || s.Seen.Contact != plan.ContactQuorum {
			return false
		}
		found, _ = w.pool.Compare(t.Context(), t.Name(), s)
		return true
	})
	return found
}

// compacts writes, and compacts to what was written.
func (w *comparedWorld) compacts(t *testing.T) int64 {
	t.Helper()
	var revision int64
	eventually(t, "a compaction", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		put, err := w.client.Put(ctx, "written", "again")
		if err != nil {
			return false
		}
		revision = put.Header.GetRevision()
		_, err = w.client.Compact(ctx, revision, clientv3.WithCompactPhysical())
		return err == nil
	})
	for _, p := range w.members {
		eventually(t, p.name+" compacts", func() bool { return int64(p.metric(t, "etcd_debugging_mvcc_compact_revision")) == revision })
	}
	return revision
}

// TestCompareFindsTheMemberThatDiffers changes a value in one member's database, and wants the difference to be found at each compaction
// from then on, without any member's reading its whole database for it.
func TestCompareFindsTheMemberThatDiffers(t *testing.T) {
	t.Parallel()
	w := newComparedWorld(t, 3)
	w.compacts(t)
	if found := w.compares(t); len(found) != 0 {
		t.Fatalf("at the last compaction, which nothing has followed: %+v", found)
	}
	w.compacts(t)
	if found := w.compares(t); len(found) != 1 || found[0].Differs() {
		t.Fatalf("while the data is the same: %+v", found)
	}
	w.members[1].diverge(t)
	if found := w.compares(t); len(found) != 1 {
		t.Fatalf("nothing was compacted since: %+v", found)
	}
	first := w.compacts(t)
	w.compares(t)
	second := w.compacts(t)
	w.compares(t)
	w.compacts(t)
	var found []plan.Comparison
	eventually(t, fmt.Sprintf("compactions %d and %d are compared", first, second), func() bool {
		found = w.compares(t)
		return len(found) == 2 && found[0].Revision == first && found[1].Revision == second
	})
	for _, c := range found {
		hashes := map[int64]int{}
		for _, h := range c.Hashes {
			hashes[h.Hash]++
		}
		if len(c.Hashes) != 3 || len(hashes) != 2 {
			t.Errorf("one of three differs: %+v", c)
		}
	}
	for _, p := range w.members {
		if n := p.metric(t, "etcd_mvcc_hash_rev_duration_seconds_count"); n != 0 {
			t.Errorf("%s has read its whole database %g times", p.name, n)
		}
	}
}

// TestCompareUnderAlarm wants the last compaction to be compared once etcd says that the data differs: there will be no other.
func TestCompareUnderAlarm(t *testing.T) {
	t.Parallel()
	w := newComparedWorld(t, 3)
	w.compacts(t) // it makes the members write to their databases what they have only in their logs
	w.members[2].diverge(t)
	last := w.compacts(t)
	if found := w.compares(t); len(found) != 0 {
		t.Fatalf("at the last compaction, which nothing has followed: %+v", found)
	}
	list, err := w.client.MemberList(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	alarm := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: list.Members[0].ID, Alarm: pb.AlarmType_CORRUPT}
	if _, err := pb.NewMaintenanceClient(w.client.ActiveConnection()).Alarm(t.Context(), alarm); err != nil {
		t.Fatal(err)
	}
	var found []plan.Comparison
	eventually(t, "the last compaction is compared", func() bool {
		found = w.compares(t)
		return len(found) == 1
	})
	if found[0].Revision != last || !found[0].Differs() {
		t.Errorf("compaction %d: %+v", last, found)
	}
	for _, p := range w.members {
		if n := p.metric(t, "etcd_mvcc_hash_rev_duration_seconds_count"); n != 0 {
			t.Errorf("%s has read its whole database %g times", p.name, n)
		}
	}
}

// TestCompareAsksOnlyForWhatIsInMemory holds what Compare relies on: at a revision below the last compaction etcd has a hash in memory, or
// refuses at once, also after it has started anew; at the last one it may read everything.
func TestCompareAsksOnlyForWhatIsInMemory(t *testing.T) {
	t.Parallel()
	const scans = "etcd_mvcc_hash_rev_duration_seconds_count"
	w := newComparedWorld(t, 1)
	p, first := w.members[0], w.compacts(t)
	second := w.compacts(t)
	ask := func(revision int64) error {
		_, err := w.client.HashKV(t.Context(), "http://"+p.address, revision)
		return err
	}
	if err := ask(first); err != nil || p.metric(t, scans) != 0 {
		t.Errorf("at a compaction that another one has followed: %v, %g scans", err, p.metric(t, scans))
	}
	p.stop()
	p.start(t)
	eventually(t, "it answers again", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.client.Get(ctx, "written")
		return err == nil
	})
	if err := ask(first); err == nil || p.metric(t, scans) != 0 {
		t.Errorf("the same after a restart: %v, %g scans; want a refusal and none", err, p.metric(t, scans))
	}
	if err := ask(second); err != nil || p.metric(t, scans) != 1 {
		t.Errorf("at the last compaction after a restart: %v, %g scans; want a hash and one", err, p.metric(t, scans))
	}
}
