package agent

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// childDirs is set in a process that a test starts of itself: Go reads the environment's proxy once.
const childDirs = "TEST_CHILD_DIRS"

// inChild runs the test of that name in a process of its own, with a task, and returns what it says.
func inChild(t *testing.T, p *pod, given task.Task, environment ...string) (task.Result, string) {
	t.Helper()
	dirs, err := json.Marshal(p.dirs)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), append(environment, childDirs+"="+string(dirs), task.EnvTask+"="+encode(t, given))...)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	words, err := os.ReadFile(filepath.Join(p.dirs.Scratch, "result"))
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	result, _ := task.ParseResult(string(words), 0)
	return result, string(out)
}

// isChild does the task in such a process.
func isChild(t *testing.T) bool {
	t.Helper()
	text := os.Getenv(childDirs)
	if text == "" {
		return false
	}
	dirs := Dirs{}
	if err := json.Unmarshal([]byte(text), &dirs); err != nil {
		t.Fatal(err)
	}
	execute(t.Context(), os.Getenv(task.EnvTask), dirs, "127.0.0.1:0", filepath.Join(dirs.Scratch, "result"))
	return true
}

// httpProxy counts who is asked for by name, and knows the way to some.
type httpProxy struct {
	mu    sync.Mutex
	asked map[string]int
	way   map[string]string
}

func (p *httpProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked[r.Host]++
	p.mu.Unlock()
	to, known := p.way[r.Host]
	hijacker, ok := w.(http.Hijacker)
	if r.Method != http.MethodConnect || !known || !ok {
		http.Error(w, "no way", http.StatusBadGateway)
		return
	}
	out, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = out.Close() }()
	in, _, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer func() { _ = in.Close() }()
	_, _ = io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n")
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
	_, _ = io.Copy(out, in)
	_ = out.Close()
	wg.Wait()
}

// TestProxy has the storage be reached through a proxy, and etcd not.
func TestProxy(t *testing.T) {
	if isChild(t) {
		return
	}
	m, s := storetest.StartMinIO(t), start(t)
	revision := s.put(t, 3)
	address := strings.TrimPrefix(m.Target.Endpoint, "https://")
	_, port, _ := strings.Cut(address, ":")
	storage := storetest.BehindProxy + ":" + port
	// An address on this machine that Go does not know to be: others are reached without a proxy in any case.
	etcd := strings.Replace(strings.TrimPrefix(s.endpoints[0], "http://"), "127.0.0.1", "0.0.0.0", 1)
	proxy := &httpProxy{asked: map[string]int{}, way: map[string]string{storage: address, etcd: etcd}}
	server := httptest.NewServer(proxy)
	defer server.Close()

	p := s3Pod(t, m, m.Credentials)
	p.storage.Endpoint = "https://" + storage
	task := p.task(s.backup(func(b *task.Backup) { b.Endpoints = []string{"http://" + etcd} }))
	result, said := inChild(t, p, task, "HTTPS_PROXY="+server.URL, "HTTP_PROXY="+server.URL, "NO_PROXY=", "no_proxy=")
	if result.Snapshot == nil || result.Snapshot.Revision < revision {
		t.Errorf("it ended with %+v: %s", result, said)
	}
	proxy.mu.Lock()
	defer proxy.mu.Unlock()
	if asked := maps.Clone(proxy.asked); asked[storage] == 0 || len(asked) != 1 {
		t.Errorf("the proxy was asked for %v, want %s only", asked, storage)
	}
}
