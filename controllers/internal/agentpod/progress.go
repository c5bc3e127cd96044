package agentpod

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

const (
	// progressTimeout is how long a pod may take to report its progress. Many do not at all: they have not started yet, or a
	// NetworkPolicy forbids the connection.
	progressTimeout = time.Second
	// progressAskers is how many pods are asked concurrently. The others are asked later.
	progressAskers = 32
	// progressKept is how long an answer is kept for the worker, which asks again every few seconds.
	progressKept = time.Minute
	// progressLimit is the maximum size of an answer, in bytes.
	progressLimit = 1 << 10
)

// steps are those that a pod may report: status must not hold whatever the server at some address answers.
var steps = []task.Step{
	task.StepConnecting, task.StepSaving, task.StepReading, task.StepRestoring, task.StepPruning, task.StepDeleting,
}

// progressClient asks pods directly, never through a proxy, and keeps no connections: the pods are short-lived.
var progressClient = &http.Client{
	Timeout:       progressTimeout,
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// asked holds the answers of the agents' pods. A worker never waits for them: it gets the last answer, and the next request is
// made in the background.
var asked = progressAsker{asking: map[types.UID]bool{}, answers: map[types.UID]progressAnswer{}}

// progressAsker is safe for concurrent use.
type progressAsker struct {
	mu      sync.Mutex
	asking  map[types.UID]bool
	answers map[types.UID]progressAnswer
}

type progressAnswer struct {
	progress task.Progress
	at       time.Time
}

// ask returns what the pod at the address has reported since the last call, nil if nothing, and has it asked again.
func (p *progressAsker) ask(pod types.UID, ip string) *task.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ip != "" && !p.asking[pod] && len(p.asking) < progressAskers {
		p.asking[pod] = true
		go p.await(pod, ip)
	}
	answer, known := p.answers[pod]
	if !known {
		return nil
	}
	delete(p.answers, pod)
	return &answer.progress
}

// Ask returns what the pod at the address has reported since the last call, nil if nothing, and has it asked again.
func Ask(pod types.UID, ip string) *task.Progress { return asked.ask(pod, ip) }

// await asks, and stores the answer. Answers that are never fetched, because the pod is gone, expire.
func (p *progressAsker) await(pod types.UID, ip string) {
	progress, ok := askProgress(context.Background(), ip)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(p.answers, func(_ types.UID, a progressAnswer) bool { return now.Sub(a.at) > progressKept })
	delete(p.asking, pod)
	if ok {
		p.answers[pod] = progressAnswer{progress: progress, at: now}
	}
}

// Progress is what the running pod has reported, nil if nothing new. That is no problem: the pod itself is watched.
func (a *Pods) Progress() *task.Progress {
	if a.Seen == nil || !a.Seen.Running {
		return nil
	}
	return asked.ask(a.Pod.UID, a.Pod.Status.PodIP)
}

func askProgress(ctx context.Context, ip string) (task.Progress, bool) {
	return readProgress(ctx, "http://"+net.JoinHostPort(ip, strconv.Itoa(task.ProgressPort))+task.ProgressPath)
}

func readProgress(ctx context.Context, url string) (task.Progress, bool) {
	var p task.Progress
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return p, false
	}
	response, err := progressClient.Do(request)
	if err != nil {
		return p, false
	}
	defer func() { _ = response.Body.Close() }()
	err = json.NewDecoder(io.LimitReader(response.Body, progressLimit)).Decode(&p)
	known := response.StatusCode == http.StatusOK && slices.Contains(steps, p.Step) && p.Bytes >= 0
	return p, err == nil && known
}
