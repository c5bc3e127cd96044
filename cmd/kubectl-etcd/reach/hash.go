package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// hashes has all members that have answered hash their keys at the last revision that all of them have.
func (a *Access) hashes(ctx context.Context, seen *Seen, answers map[string]report.Answer) (map[string]doctor.Hash, error) {
	revision := int64(0)
	for _, answer := range answers {
		if answer.Problem == "" && answer.Unasked == "" && (revision == 0 || answer.Revision < revision) {
			revision = answer.Revision
		}
	}
	if revision == 0 {
		return nil, errors.New("no member has answered")
	}
	config, err := a.credentials(ctx, seen)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, hashTimeout)
	defer cancel()
	all := map[string]doctor.Hash{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, pod := range seen.Pods {
		if answer := answers[pod.Name]; answer.Problem != "" || answer.Unasked != "" {
			continue
		}
		wg.Go(func() {
			hash := a.hash(ctx, pod, member.Host(pod.Name, seen.Object.Name, seen.Object.Namespace, ""), revision, config)
			mu.Lock()
			defer mu.Unlock()
			all[pod.Name] = hash
		})
	}
	wg.Wait()
	return all, nil
}

func (a *Access) hash(ctx context.Context, pod corev1.Pod, host string, revision int64, config *tls.Config) (hash doctor.Hash) {
	if !resources.PodTransport(&pod).ServesClientTLS() {
		config = nil
	}
	err := a.forward(ctx, pod.Name, func(to local) {
		c, err := dial(ctx, to.client, host, config)
		if err != nil {
			hash.Problem = err.Error()
			return
		}
		defer func() { _ = c.Close() }()
		answer, err := c.HashKV(ctx, revision)
		if err != nil {
			hash.Problem = fmt.Sprintf("it does not hash its keys at revision %d: %v", revision, err)
			return
		}
		hash = doctor.Hash{Value: answer.GetHash(), Revision: revision, Compacted: answer.GetCompactRevision()}
	})
	if err != nil {
		hash.Problem = err.Error()
	}
	return hash
}
