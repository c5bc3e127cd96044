package etcdrestore

import (
	"context"
	"fmt"

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
func observeHeld(ctx context.Context, reader client.Reader, p *restorePass, claims []corev1.PersistentVolumeClaim) error {
	c, seen := p.cluster, &p.observed.Cluster
	if s := &c.Status; s.ClusterID == "" && s.Bootstrap != nil && s.Bootstrap.Restore != "" {
		return nil
	}
	if p.asked = agentpod.MemberURLs(c, agentpod.Listed); len(p.asked) > 0 && c.Status.ClusterID != "" {
		seen.Held = true
		return nil
	}
	pods, err := permitted(ctx, reader, c)
	if err != nil {
		return err
	}
	p.asked = nil
	for _, name := range pods {
		p.asked = append(p.asked, member.ClientURL(member.Host(name, c.Name, c.Namespace, resources.Domain(c))))
	}
	seen.Held = c.Status.ClusterID != "" || len(pods) > 0
	for i := range claims {
		written := claims[i].Annotations[resources.AnnotationMemberID] != ""
		seen.Held = seen.Held || written && resources.VolumeOwned(c, &claims[i])
	}
	seen.Mute = len(p.asked) == 0
	return nil
}

// permitted names the cluster's pods that were let start etcd.
func permitted(ctx context.Context, reader client.Reader, c *v1beta2.EtcdCluster) (names []string, err error) {
	pods := &corev1.PodList{}
	err = reader.List(ctx, pods, client.InNamespace(c.Namespace), client.MatchingLabels(resources.ClusterSelector(c.Name)))
	if err != nil {
		return nil, fmt.Errorf("list the pods of EtcdCluster %s: %w", c.Name, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if metav1.IsControlledBy(pod, c) && pod.Annotations[member.PermitAnnotation] != "" {
			names = append(names, pod.Name)
		}
	}
	return names, nil
}
