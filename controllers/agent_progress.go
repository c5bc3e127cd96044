package controllers

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/agent"
)

const (
	// unheard is the next look after a pod did not say how far it is: to ask it keeps the one worker waiting. It may not have
	// begun to answer, or nobody may reach it from here.
	unheard = 20 * time.Second
	// progressPatience is how long a pod may take to say how far it is. It keeps a worker waiting.
	progressPatience = time.Second
	// progressLimit is more than any answer has, in bytes.
	progressLimit = 1 << 10
)

// steps are those that a pod may say it is at: what is put into status is not left to whoever answers at an address.
var steps = []agent.Step{
	agent.StepConnecting, agent.StepSaving, agent.StepReading, agent.StepRestoring, agent.StepPruning, agent.StepDeleting,
}

// progressClient asks pods themselves, never a proxy, and keeps no connection to a pod that soon is gone.
var progressClient = &http.Client{
	Timeout:       progressPatience,
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// progress asks the pod how far it is, if it runs. That it does not say is no trouble: what becomes of it is watched.
func (a *agentPods) progress(ctx context.Context) *agent.Progress {
	if a.seen == nil || !a.seen.Running {
		return nil
	}
	return a.ask(ctx, a.pod.Status.PodIP)
}

// ask asks whoever is at the address.
func (a *agentPods) ask(ctx context.Context, ip string) *agent.Progress {
	progress, ok := askProgress(ctx, ip)
	if a.silent = !ok; a.silent {
		return nil
	}
	return &progress
}

func askProgress(ctx context.Context, ip string) (agent.Progress, bool) {
	if ip == "" {
		return agent.Progress{}, false
	}
	return readProgress(ctx, "http://"+net.JoinHostPort(ip, strconv.Itoa(agent.ProgressPort))+agent.ProgressPath)
}

// pause is the time until the next look at what is waited for.
func (a *agentPods) pause(after time.Duration) time.Duration {
	if a.silent {
		return unheard
	}
	return after
}

func readProgress(ctx context.Context, url string) (agent.Progress, bool) {
	var p agent.Progress
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
