package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// openWithin is how long a tunnel may take to open.
const openWithin = 15 * time.Second

// Links are open tunnels to the members of a cluster, on the loopback interface of this machine.
type Links struct {
	// Endpoints are the members that a tunnel leads to, in the order of the pods.
	Endpoints []etcd.Endpoint
	// TLS is how to talk to them, nil for plain text.
	TLS *tls.Config
	// Unreached says of each of the other pods why none does.
	Unreached map[string]string

	stop context.CancelFunc
	open sync.WaitGroup
}

// Close closes the tunnels, and returns once they are.
func (l *Links) Close() {
	l.stop()
	l.open.Wait()
}

// Connect opens a tunnel to each member, until Close. The error says why nobody can be talked to.
func (a *Access) Connect(ctx context.Context, seen *Seen) (*Links, error) {
	switch {
	case len(seen.Pods) == 0 && len(seen.Problems) > 0:
		return nil, errors.New(seen.Problems[0])
	case len(seen.Pods) == 0:
		return nil, fmt.Errorf("%s has no members that could be talked to", seen.Object.Name)
	}
	if err := a.mayForward(ctx); err != nil {
		return nil, err
	}
	config, err := a.credentials(ctx, seen)
	if err != nil {
		return nil, err
	}
	if config != nil && !allServeTLS(seen.Pods) {
		return nil, errors.New("some members talk to clients in plain text and others over TLS: wait until all do the same")
	}
	tunnelled, stop := context.WithCancel(ctx)
	l := &Links{TLS: config, Unreached: map[string]string{}, stop: stop}
	endpoints, problems := make([]etcd.Endpoint, len(seen.Pods)), make([]error, len(seen.Pods))
	var opening sync.WaitGroup
	for i, pod := range seen.Pods {
		opening.Go(func() {
			endpoints[i], problems[i] = a.link(tunnelled, l, pod)
			endpoints[i].ServerName = member.Host(pod.Name, seen.Object.Name, seen.Object.Namespace, "")
		})
	}
	opening.Wait()
	for i, pod := range seen.Pods {
		if problems[i] != nil {
			l.Unreached[pod.Name] = problems[i].Error()
			continue
		}
		l.Endpoints = append(l.Endpoints, endpoints[i])
	}
	if len(l.Endpoints) == 0 {
		l.Close()
		return nil, fmt.Errorf("no member of %s can be talked to: %w", seen.Object.Name, problems[0])
	}
	return l, nil
}

// link opens a tunnel to one pod, which stays open until the context ends.
func (a *Access) link(ctx context.Context, l *Links, pod corev1.Pod) (etcd.Endpoint, error) {
	if pod.Status.Phase != corev1.PodRunning {
		return etcd.Endpoint{}, fmt.Errorf("its pod is %s", pod.Status.Phase)
	}
	own, stop := context.WithCancel(ctx)
	opened, failed := make(chan local, 1), make(chan error, 1)
	l.open.Go(func() {
		defer stop()
		err := a.forward(own, pod.Name, func(to local) {
			opened <- to
			<-own.Done()
		})
		failed <- err
	})
	late := time.NewTimer(openWithin)
	defer late.Stop()
	select {
	case to := <-opened:
		return etcd.Endpoint{Pod: pod.Name, PodUID: string(pod.UID), Address: to.client, Metrics: to.metrics}, nil
	case err := <-failed:
		return etcd.Endpoint{}, err
	case <-late.C:
		stop()
		return etcd.Endpoint{}, fmt.Errorf("forward ports of %s: not open within %s", pod.Name, openWithin)
	}
}

func allServeTLS(pods []corev1.Pod) bool {
	for _, p := range pods {
		if !resources.PodTransport(&p).ServesClientTLS() {
			return false
		}
	}
	return true
}
