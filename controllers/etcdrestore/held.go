package etcdrestore

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// observeHeld looks whether there may be data to save, and who has it. What status tells of the members is what a quorum has
// confirmed: of a cluster that was taken up and has none yet, or whose status was lost, it tells of nobody, and what there is
// decides. While an attempt at a restore is under way nothing runs but that.
func observeHeld(p *restorePass, pods []corev1.Pod, claims []corev1.PersistentVolumeClaim) {
	c, seen := p.cluster, &p.observed.Cluster
	if s := &c.Status; s.ClusterID == "" && s.Bootstrap != nil && s.Bootstrap.Restore != "" {
		return
	}
	if p.asked = agentpod.MemberURLs(c, agentpod.Listed); len(p.asked) > 0 && c.Status.ClusterID != "" {
		seen.Held = true
		return
	}
	p.asked = nil
	for i := range pods {
		p.asked = append(p.asked, member.ClientURL(member.Host(pods[i].Name, c.Name, c.Namespace, resources.Domain(c))))
	}
	seen.Held = c.Status.ClusterID != "" || len(pods) > 0
	for i := range claims {
		written := claims[i].Annotations[resources.AnnotationMemberID] != ""
		seen.Held = seen.Held || written && resources.VolumeOwned(c, &claims[i])
	}
	seen.Mute = len(p.asked) == 0
}

// observeVolatile looks for pods whose data nobody can keep, while that is to be saved or was. On an emptyDir it is there for as
// long as the pod is, whether its etcd answers or not; with a pod that is over, or being deleted, it goes in any case. Where no
// quorum has said who the members are, whoever was let start etcd may have it.
func observeVolatile(p *restorePass, pods []corev1.Pod) {
	if phase := p.observed.Phase; !p.observed.Cluster.Held || phase != v1beta2.RestoreSaving && phase != v1beta2.RestoreReplacing {
		return
	}
	for i := range pods {
		pod := &pods[i]
		stays := pod.DeletionTimestamp.IsZero() && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
		if stays && !resources.PodPersistent(pod) {
			p.observed.Cluster.Volatile = append(p.observed.Cluster.Volatile, pod.Name)
		}
	}
	slices.Sort(p.observed.Cluster.Volatile)
}

// permitted are the cluster's pods that were let start etcd.
func permitted(ctx context.Context, reader client.Reader, c *v1beta2.EtcdCluster) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := reader.List(ctx, pods, client.InNamespace(c.Namespace), client.MatchingLabels(resources.ClusterSelector(c.Name)))
	if err != nil {
		return nil, fmt.Errorf("list the pods of EtcdCluster %s: %w", c.Name, err)
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool {
		return !metav1.IsControlledBy(&pod, c) || pod.Annotations[member.PermitAnnotation] == ""
	}), nil
}
