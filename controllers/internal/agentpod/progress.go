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
	// progressPatience is how long a pod may take to say how far it is. Many do not at all: they have not begun to, or nobody
	// may reach them from here.
	progressPatience = time.Second
	// progressAskers is how many pods are asked at the same time. The others are asked later.
	progressAskers = 32
	// progressKept is how long an answer is kept for whoever asked, who looks again every few seconds.
	progressKept = time.Minute
	// progressLimit is more than any answer has, in bytes.
	progressLimit = 1 << 10
)

// steps are those that a pod may say it is at: what is put into status is not left to whoever answers at an address.
var steps = []task.Step{
	task.StepConnecting, task.StepSaving, task.StepReading, task.StepRestoring, task.StepPruning, task.StepDeleting,
}

// progressClient asks pods themselves, never a proxy, and keeps no connection to a pod that soon is gone.
var progressClient = &http.Client{
	Timeout:       progressPatience,
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// asked is what the agents' pods were asked. A worker never waits for them: it gets the last answer, and has another one
// asked for.
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

// ask returns what the pod with the address has said since it was asked last, nil if nothing, and has it asked again.
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

// Ask returns what the pod with the address has said since it was asked last, nil if nothing, and has it asked again.
func Ask(pod types.UID, ip string) *task.Progress { return asked.ask(pod, ip) }

// await asks, and notes the answer. Whose pod is gone never comes for it.
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

// Progress tells how far the pod has said it is, if it runs, nil if it has said nothing new. That is no trouble: what becomes
// of it is watched.
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
