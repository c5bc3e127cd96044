package etcdrestore

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/agent"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// memberRun is the container of a member's pod that makes its data of the snapshot.
type memberRun struct {
	v1beta2.AgentRun
	uid types.UID
	ip  string
}

// memberRunOf is nil unless the container runs.
func memberRunOf(pod *corev1.Pod) *memberRun {
	all := pod.Status.InitContainerStatuses
	i := slices.IndexFunc(all, func(s corev1.ContainerStatus) bool {
		return s.Name == resources.RestoreContainerName && s.State.Running != nil
	})
	if i < 0 {
		return nil
	}
	return &memberRun{
		AgentRun: v1beta2.AgentRun{Pod: pod.Name, Attempt: all[i].RestartCount + 1, Started: all[i].State.Running.StartedAt},
		uid:      pod.UID, ip: pod.Status.PodIP,
	}
}

// observeMemberRun looks at the pod of the first member while the cluster's data is replaced.
func observeMemberRun(ctx context.Context, reader client.Reader, p *restorePass) error {
	if p.observed.Phase != v1beta2.RestoreReplacing || p.cluster == nil {
		return nil
	}
	b := p.cluster.Status.Bootstrap
	if b == nil || b.Restore != string(p.object.UID) || len(b.Members) == 0 {
		return nil
	}
	pod := &corev1.Pod{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: b.Members[0]}, pod)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Pod %s: %w", b.Members[0], err)
	}
	p.member = memberRunOf(pod)
	if f := restores.Failure(pod); f != nil && p.observed.Cluster.Record != nil {
		p.observed.Cluster.Record.Failure = &retry.Problem{Reason: f.Reason, Message: f.Message}
	}
	return nil
}

// follow writes down how far the pod at work is.
func (p *restorePass) follow() {
	s := &p.object.Status
	var progress *agent.Progress
	switch {
	case p.observed.Phase == v1beta2.RestoreReplacing:
		if s.Run = p.member.after(s.Run); p.member != nil {
			progress = agentpod.Ask(p.member.uid, p.member.ip)
		}
	case p.Pod != nil && p.observed.Run.RetryAfter.IsZero():
		progress = p.Progress()
	}
	if progress != nil {
		s.Run.Step, s.Run.Bytes = string(progress.Step), progress.Bytes
	}
}

// after is the run as status has it, with how far it was if it is the one that was noted; nil if it is over.
func (m *memberRun) after(noted *v1beta2.AgentRun) *v1beta2.AgentRun {
	if m == nil {
		return nil
	}
	run := m.AgentRun
	if noted != nil && noted.Pod == run.Pod && noted.Attempt == run.Attempt {
		run.Step, run.Bytes = noted.Step, noted.Bytes
	}
	return &run
}
