package agent

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// process runs a task as the process in the pod does.
func process(ctx context.Context, p *pod, text, address string) (task.Result, bool, int) {
	p.Helper()
	file := filepath.Join(p.TempDir(), "termination-log")
	exit := execute(ctx, text, p.dirs, address, file)
	words, err := os.ReadFile(file)
	if err != nil {
		p.Fatal(err)
	}
	result, ok := task.ParseResult(string(words), int32(exit))
	return result, ok, exit
}

func encode(t testing.TB, given task.Task) string {
	t.Helper()
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestProcess goes the way of a Task through the environment and of a Result through the termination message.
func TestProcess(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 1)
	result, ok, exit := process(t.Context(), p, encode(t, p.task(s.backup(plain))), "127.0.0.1:0")
	if !ok || exit != 0 || result.Snapshot == nil || result.Total != 1 {
		t.Errorf("got %+v, %v, %d", result, ok, exit)
	}
	for text, want := range map[string]string{
		"":                             task.EnvTask,
		encode(t, p.task(task.Task{})): "the task is empty",
		encode(t, task.Task{Clean: &task.Clean{}}): "timed out after",
	} {
		result, ok, exit := process(t.Context(), p, text, "127.0.0.1:0")
		if !ok || exit != 1 || result.Failure == nil || !strings.Contains(result.Failure.Message, want) {
			t.Errorf("%s: got %+v, %v, %d", text, result.Failure, ok, exit)
		}
	}
}

// TestProgress asks a process that is in the middle of a backup, and ends it then.
func TestProgress(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 2000)
	endpoint, reached := stall(t, s.endpoints[0], 100<<10)
	saving := p.task(s.backup(func(b *task.Backup) { b.Endpoints, b.Compress = []string{endpoint}, false }))
	address := storetest.FreeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan task.Progress, 1)
	go func() {
		defer cancel()
		<-reached
		at := ask(t, "http://"+address+task.ProgressPath)
		for at.Step == task.StepConnecting { // what was sent has yet to arrive
			at = ask(t, "http://"+address+task.ProgressPath)
		}
		asked <- at
	}()
	result, ok, exit := process(ctx, p, encode(t, saving), address)
	if !ok || exit != 1 || result.Failure == nil || result.Failure.Reason != v1beta2.ReasonSnapshotFailed {
		t.Errorf("got %+v, %v, %d", result.Failure, ok, exit)
	}
	if got := <-asked; got.Step != task.StepSaving {
		t.Errorf("it was at %+v", got)
	}
	if stored := p.stored(); len(stored) > 0 {
		t.Errorf("left %v", stored)
	}
}

func ask(t testing.TB, url string) task.Progress {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Error(err)
		return task.Progress{}
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return task.Progress{}
	}
	defer func() { _ = answer.Body.Close() }()
	progress := task.Progress{}
	if err := json.NewDecoder(answer.Body).Decode(&progress); err != nil {
		t.Error(err)
	}
	return progress
}
