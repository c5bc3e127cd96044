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

// observeHeld finds out whether there may be data to save, and which members have it. The members in status are those that a
// quorum has confirmed: for a cluster that was adopted and has had no quorum yet, or whose status was lost, there are none, and the
// pods and volumes decide. While an attempt at a restore is in progress nothing else runs.
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
		host := member.Host(pods[i].Name, c.Name, c.Namespace, resources.Domain(c))
		p.asked = append(p.asked, member.ClientURL(host, resources.Transport(c)))
	}
	seen.Held = c.Status.ClusterID != "" || len(pods) > 0
	for i := range claims {
		written := claims[i].Annotations[resources.AnnotationMemberID] != ""
		seen.Held = seen.Held || written && resources.VolumeOwned(c, &claims[i])
	}
	seen.Mute = len(p.asked) == 0
}

// observeVolatile looks for pods whose data is lost with them, while it is to be saved or has been. On an emptyDir it exists as
// long as the pod does, whether its etcd answers or not; that of a pod that has finished, or is being deleted, is lost in any case.
// If no quorum has confirmed the members, any pod that was permitted to start etcd may have data.
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

// permitted are the cluster's pods that were permitted to start etcd.
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
