package reach

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// Ask asks all members at once. Problem says why none could be asked; why one of them could not is in its answer.
func (a *Access) Ask(ctx context.Context, seen *Seen) (answers map[string]report.Answer, problem error) {
	if len(seen.Pods) == 0 {
		return nil, nil
	}
	if err := a.mayForward(ctx); err != nil {
		return nil, err
	}
	config, err := a.credentials(ctx, seen)
	if err != nil {
		return nil, err
	}
	answers = map[string]report.Answer{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, pod := range seen.Pods {
		wg.Go(func() {
			answer := a.askPod(ctx, seen.Object, pod, config)
			mu.Lock()
			defer mu.Unlock()
			answers[pod.Name] = answer
		})
	}
	wg.Wait()
	return answers, nil
}

// askPod asks one member, and its metrics.
func (a *Access) askPod(ctx context.Context, cluster *v1beta2.EtcdCluster, pod corev1.Pod, config *tls.Config) (answer report.Answer) {
	if pod.Status.Phase != corev1.PodRunning {
		return report.Answer{Problem: fmt.Sprintf("its pod is %s", pod.Status.Phase)}
	}
	if !resources.PodTransport(&pod).ServesClientTLS() {
		config = nil
	}
	err := a.forward(ctx, pod.Name, func(to local) {
		answer = status(ctx, to.client, member.Host(pod.Name, cluster.Name, cluster.Namespace, ""), config)
		measure(ctx, to.metrics, &answer)
	})
	if err != nil {
		answer.Unasked = err.Error()
	}
	return answer
}

// mayForward asks the API server, which tells the tunnel's client only in words.
func (a *Access) mayForward(ctx context.Context) error {
	allowed, err := a.may(ctx, authorizationv1.ResourceAttributes{Namespace: a.namespace, Verb: "create", Resource: "pods", Subresource: "portforward"})
	if err != nil {
		return err
	}
	if !allowed {
		return fmt.Errorf(`you may not "create" pods/portforward in namespace %s`, a.namespace)
	}
	return nil
}

// dial makes a client of the member of that host, at the end of a tunnel.
func dial(ctx context.Context, address, host string, config *tls.Config) (*etcdclient.Client, error) {
	to := etcdclient.ReachMember(config, address, host)
	to.Context = ctx
	return etcdclient.Dial(to)
}

// status is what a member says of itself.
func status(ctx context.Context, address, host string, config *tls.Config) report.Answer {
	c, err := dial(ctx, address, host, config)
	if err != nil {
		return report.Answer{Problem: err.Error()}
	}
	defer func() { _ = c.Close() }()
	s, err := c.Status(ctx)
	if err != nil {
		return report.Answer{Problem: "etcd does not answer: " + err.Error()}
	}
	answer := report.Answer{
		ID: s.GetHeader().GetMemberId(), Leader: s.GetLeader(), Version: s.GetVersion(), Learner: s.GetIsLearner(),
		Bytes: s.GetDbSize(), InUse: s.GetDbSizeInUse(), Quota: s.GetDbSizeQuota(),
		Index: s.GetRaftIndex(), Applied: s.GetRaftAppliedIndex(), Revision: s.GetHeader().GetRevision(),
	}
	for _, alarm := range etcdclient.Alarms(s.GetErrors()) {
		answer.Alarms = append(answer.Alarms, report.Alarm(alarm))
	}
	return answer
}
