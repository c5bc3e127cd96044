package record_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/test/e2e/soak/record"
)

// TestJudge has traffic at work on a real etcd: what it saw is as promised, and what it did not see is not.
func TestJudge(t *testing.T) {
	for name, kubernetes := range map[string]bool{"all kinds of requests": false, "like Kubernetes": true} {
		t.Run(name, func(t *testing.T) {
			endpoint, data := serve(t)
			r, err := record.Start(t.Context(), zap.NewNop(), []string{endpoint}, kubernetes)
			must(t, err)
			must(t, r.Follow(t.Context(), map[string]bool{endpoint: true}))
			reached(t, endpoint, 40)
			// The member goes and comes back.
			must(t, r.Follow(t.Context(), nil))
			must(t, r.Follow(t.Context(), map[string]bool{endpoint: true}))
			reached(t, endpoint, 80)
			logs := record.Logs{Folder: t.TempDir()}
			must(t, logs.Take("1", data))
			reports, err := r.Finish(t.Context(), []string{endpoint})
			must(t, err)
			must(t, logs.Take("1", data))
			folders, err := logs.Folders()
			must(t, err)
			if err := r.Judge(reports, []string{folders["1"]}); err != nil {
				t.Errorf("what a good etcd did is judged: %v", err)
			}
			if good, all := record.Count(reports); good == 0 || good > all || record.Longest(reports) <= 0 {
				t.Errorf("%d of %d operations succeeded, longest time without a write %s", good, all, record.Longest(reports))
			}
			kept := filepath.Join(t.TempDir(), "kept")
			must(t, r.Keep(kept, reports, folders))
			loaded, err := report.LoadClientReports(kept)
			must(t, err)
			forge(t, loaded)
			if err := r.Judge(loaded, []string{folders["1"]}); err == nil || errors.Is(err, record.ErrUnknown) {
				t.Errorf("a forged answer is judged: %v", err)
			}
		})
	}
}

// TestNoLogsIsNoVerdict keeps the verdict on what was never checked apart from others.
func TestNoLogsIsNoVerdict(t *testing.T) {
	endpoint, _ := serve(t)
	r, err := record.Start(t.Context(), zap.NewNop(), []string{endpoint}, true)
	must(t, err)
	if err := r.Judge(nil, nil); !errors.Is(err, record.ErrUnknown) {
		t.Errorf("without logs, Judge = %v", err)
	}
}

// forge has one write return a revision that it did not have.
func forge(t *testing.T, reports []report.ClientReport) {
	t.Helper()
	for _, r := range reports {
		for i, o := range r.KeyValue {
			answer, _ := o.Output.(model.MaybeEtcdResponse)
			request, _ := o.Input.(model.EtcdRequest)
			if answer.Error == "" && request.Type == model.Txn && !request.IsRead() {
				answer.Revision += 1000
				r.KeyValue[i].Output = answer
				return
			}
		}
	}
	t.Fatal("nothing was written")
}

// serve runs an etcd of one member until the test ends.
func serve(t *testing.T) (endpoint, data string) {
	t.Helper()
	program := os.Getenv("TEST_ASSET_ETCD")
	if program == "" {
		t.Fatal("TEST_ASSET_ETCD is not set: use make test-unit")
	}
	data, endpoint = t.TempDir(), address(t)
	peer := address(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	server := exec.CommandContext(ctx, program, "--data-dir="+data, "--name=m", "--listen-client-urls="+endpoint,
		"--advertise-client-urls="+endpoint, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--initial-cluster=m="+peer, "--log-level=error", "--unsafe-no-fsync")
	must(t, server.Start())
	t.Cleanup(func() {
		cancel()
		_ = server.Wait() // killed
	})
	return endpoint, data
}

func address(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, l.Close()) }()
	return fmt.Sprintf("http://%s", l.Addr())
}

// reached waits until etcd is at a revision.
func reached(t *testing.T, endpoint string, revision int64) {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	must(t, err)
	defer func() { must(t, c.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Every revision is an event, in order.
	for answer := range c.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(2)) {
		must(t, answer.Err())
		if answer.Header.Revision >= revision {
			return
		}
	}
	t.Fatalf("revision %d was not reached: %v", revision, ctx.Err())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
