package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// hashes has all members that have answered hash their keys at the last revision that all of them have, one after the other and the leader
// last: a member takes no write while it hashes.
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
	for _, pod := range leaderLast(seen.Pods, answers) {
		if answer := answers[pod.Name]; answer.Problem != "" || answer.Unasked != "" {
			continue
		}
		all[pod.Name] = a.hash(ctx, seen.Object, pod, revision, config)
	}
	return all, nil
}

// leaderLast are the pods, that of the leader at the end.
func leaderLast(pods []corev1.Pod, answers map[string]report.Answer) []corev1.Pod {
	leads := func(p corev1.Pod) int {
		if a := answers[p.Name]; a.Leader != 0 && a.Leader == a.ID {
			return 1
		}
		return 0
	}
	return slices.SortedStableFunc(slices.Values(pods), func(a, b corev1.Pod) int { return leads(a) - leads(b) })
}

func (a *Access) hash(ctx context.Context, cluster *v1beta2.EtcdCluster, pod corev1.Pod, revision int64, config *tls.Config) (hash doctor.Hash) {
	if !resources.PodTransport(&pod).ServesClientTLS() {
		config = nil
	}
	err := a.forward(ctx, pod.Name, func(to local) {
		c, err := dial(ctx, to.client, member.Host(pod.Name, cluster.Name, cluster.Namespace, ""), config)
		if err != nil {
			hash.Problem = err.Error()
			return
		}
		defer func() { _ = c.Close() }()
		answer, err := c.HashKV(ctx, revision)
		if err != nil {
			hash.Problem = unhashed(cluster.Name, revision, err)
			return
		}
		hash = doctor.Hash{Value: answer.GetHash(), Revision: revision, Compacted: answer.GetCompactRevision()}
	})
	if err != nil {
		hash.Problem = err.Error()
	}
	return hash
}

// unhashed says why a member has no hash, and what to do where etcd lets only root ask for one.
func unhashed(cluster string, revision int64, err error) string {
	says := fmt.Sprintf("it does not hash its keys at revision %d: %v", revision, err)
	if etcdclient.Denied(err) {
		says += fmt.Sprintf("; give --secret a Secret with a certificate of a user with the role root, such as %s-agent", cluster)
	}
	return says
}
