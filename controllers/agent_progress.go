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

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/agent"
)

const (
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

// askProgress asks an agent's pod how far it is. That it does not say is no trouble: what becomes of it is watched.
func askProgress(ctx context.Context, pod *corev1.Pod) (agent.Progress, bool) {
	if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
		return agent.Progress{}, false
	}
	host := net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(agent.ProgressPort))
	return readProgress(ctx, "http://"+host+agent.ProgressPath)
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
