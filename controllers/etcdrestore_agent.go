package controllers

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/agent"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// restoreLabels lead to the pods of a restore, and have the cache hold them. A label has less room than a name.
func restoreLabels(o *v1beta2.EtcdRestore) map[string]string {
	name := o.Name
	if len(name) > validation.LabelValueMaxLength {
		name = string(o.UID)
	}
	return map[string]string{resources.LabelApp: resources.AppValue, resources.LabelRestore: name}
}

// restorePodName names the pod of a try. Another EtcdRestore of the same name has other pods.
func restorePodName(o *v1beta2.EtcdRestore, attempt int) string {
	const readable, unique = 40, 8
	task := "verify"
	if o.Status.Phase == v1beta2.RestoreSaving {
		task = "save"
	}
	name := strings.TrimRight(o.Name[:min(readable, len(o.Name))], "-.")
	return fmt.Sprintf("%s-%s-%s-%d", name, o.UID[:min(unique, len(o.UID))], task, attempt)
}

// agentPod is the pod of the run under way.
func (r *EtcdRestoreReconciler) agentPod(p *restorePass) (*corev1.Pod, error) {
	o := p.object
	return resources.AgentPod{
		Namespace: o.Namespace, Name: o.Status.Run.Pod,
		Owner:  *metav1.NewControllerRef(o, v1beta2.GroupVersion.WithKind("EtcdRestore")),
		Labels: restoreLabels(o), Task: restoreTask(p), Policy: o.Spec.Pod,
		EncryptionSecret: o.Status.Source.EncryptionSecret, Image: r.OperatorImage, OpenShift: r.OpenShift,
	}.Pod()
}

func restoreTask(p *restorePass) agent.Task {
	o, source := p.object, p.object.Status.Source
	task := agent.Task{
		Writer:  snapshot.Writer{Kind: "EtcdRestore", Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)},
		Storage: source.Storage, Encrypted: source.EncryptionSecret != "", Timeout: p.observed.Timeout,
	}
	if o.Status.Phase == v1beta2.RestoreSaving {
		task.Backup = &agent.Backup{
			Endpoints: memberURLs(p.cluster), Compress: true, Verify: v1beta2.VerifyChecksum,
			Cluster: snapshot.Cluster{
				Namespace: p.cluster.Namespace, Name: p.cluster.Name, UID: string(p.cluster.UID), ID: p.cluster.Status.ClusterID,
			},
		}
		return task
	}
	choice := agent.Choice{Object: source.Object, WriterUID: source.WriterUID}
	if o.Spec.Before != nil {
		choice.Before = o.Spec.Before.Time
	}
	task.Verify = &agent.Verify{Choice: choice, EtcdVersion: versionFor(p), Trial: true}
	return task
}

// versionFor is the etcd version that is to run on the snapshot.
func versionFor(p *restorePass) string {
	if p.cluster == nil {
		return version.Normalize(p.object.Spec.ClusterTemplate.Spec.Version)
	}
	spec, _ := effective(p.cluster, nil)
	return version.Normalize(spec.Version)
}

// memberURLs are where the members serve clients, without the Service between: a snapshot is of one of them, and one that
// does not serve may still have the data.
func memberURLs(c *v1beta2.EtcdCluster) (urls []string) {
	for _, m := range c.Status.MemberStatuses {
		if m.Role != v1beta2.MemberRoleNone {
			host := member.Host(m.Name, c.Name, c.Namespace, resources.Domain(c))
			urls = append(urls, member.ClientURL(host))
		}
	}
	return urls
}

// agentOf reads what matters of a pod.
func agentOf(pod *corev1.Pod) (retry.Pod, agent.Result) {
	seen := retry.Pod{
		Name: pod.Name, UID: string(pod.UID), Deleting: pod.DeletionTimestamp != nil,
		Running: phaseOf(pod) == plan.Running, Ended: phaseOf(pod) == plan.Terminal, Problem: resources.AgentProblem(pod),
	}
	if seen.Deleting {
		seen.Deadline = pod.DeletionTimestamp.Time
	}
	result, ok := resources.AgentResult(pod)
	if !ok {
		return seen, result
	}
	if result.Failure == nil && result.Snapshot == nil {
		result.Failure = &agent.Failure{Reason: v1beta2.ReasonAgentLost, Message: "the pod does not say which snapshot it has"}
	}
	seen.Result = &retry.Result{}
	if f := result.Failure; f != nil {
		seen.Result.Failure = &retry.Problem{Reason: f.Reason, Message: f.Message}
		seen.Result.Hopeless = f.Lasting
	}
	return seen, result
}
