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
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// memberRestore is the init container of a member's pod that restores its data from the snapshot.
type memberRestore struct {
	v1beta2.AgentRun
	uid types.UID
	ip  string
}

// memberRestoreOf is nil unless the container runs.
func memberRestoreOf(pod *corev1.Pod) *memberRestore {
	all := pod.Status.InitContainerStatuses
	i := slices.IndexFunc(all, func(s corev1.ContainerStatus) bool {
		return s.Name == resources.RestoreContainerName && s.State.Running != nil
	})
	if i < 0 {
		return nil
	}
	return &memberRestore{
		AgentRun: v1beta2.AgentRun{Pod: pod.Name, Attempt: all[i].RestartCount + 1, AttemptStartTime: all[i].State.Running.StartedAt},
		uid:      pod.UID, ip: pod.Status.PodIP,
	}
}

// observeMemberRestore reads the pod of the first member while the cluster's data is being replaced.
func observeMemberRestore(ctx context.Context, reader client.Reader, p *restorePass) error {
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
	p.member = memberRestoreOf(pod)
	if f := restores.Failure(pod); f != nil && p.observed.Cluster.Record != nil {
		p.observed.Cluster.Record.Failure = &failure.Problem{Reason: f.Reason, Message: f.Message}
	}
	return nil
}

// noted is the run in the form of status, nil if there is none.
func (m *memberRestore) noted() *v1beta2.AgentRun {
	if m == nil {
		return nil
	}
	return &m.AgentRun
}

// progress is how far the pod or the member that is working has come.
func (p *restorePass) progress() *task.Progress {
	_, waits := p.action.(restore.Wait)
	switch {
	case !waits:
		return nil
	case p.observed.Phase == v1beta2.RestoreReplacing && p.member != nil:
		return agentpod.Ask(p.member.uid, p.member.ip)
	case p.observed.Phase != v1beta2.RestoreReplacing && p.Pod != nil && p.observed.Run.RetryAfter.IsZero():
		return p.Progress()
	}
	return nil
}
