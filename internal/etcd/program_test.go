package etcd_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
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
	p.process = exec.Command(path, p.args...) //nolint:noctx // it ends with the test, whose context ends too early
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

// listens reports whether the member takes connections of clients.
func (p *program) listens(t *testing.T) bool {
	t.Helper()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.address)
	if err == nil {
		_ = connection.Close()
	}
	return err == nil
}

// metric is the value of one without labels.
func (p *program) metric(t *testing.T, name string) float64 {
	t.Helper()
	for line := range strings.Lines(p.metrics(t)) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no metric %s", p.name, name)
	return 0
}

// metrics are all of them.
func (p *program) metrics(t *testing.T) string {
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
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
