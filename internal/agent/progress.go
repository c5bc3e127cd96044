package agent

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Tracker holds the progress of a task, and serves it over HTTP. It is safe for concurrent use.
type Tracker struct {
	mu  sync.Mutex
	now task.Progress
}

// Progress is how far the task is.
func (t *Tracker) Progress() task.Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// ServeHTTP answers with the Progress as JSON.
func (t *Tracker) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(t.Progress()) // whoever asked is gone
}

func (t *Tracker) step(s task.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = task.Progress{Step: s}
}

func (t *Tracker) moved(bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.Bytes = bytes
}

// reading counts the bytes of a snapshot of that size, and knows that what follows the last one is a restore.
func (t *Tracker) reading(size int64) func(int64) {
	t.step(task.StepReading)
	return func(bytes int64) {
		t.moved(bytes)
		if bytes == size {
			t.step(task.StepRestoring)
		}
	}
}
