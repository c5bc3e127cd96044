package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Cluster is one EtcdCluster under test.
type Cluster struct {
	*Env
	Namespace, Name string
}

// Get reads the EtcdCluster.
func (c *Cluster) Get(ctx context.Context) (*v1beta2.EtcdCluster, error) {
	object := &v1beta2.EtcdCluster{}
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name}, object)
	return object, err
}

// NewCluster creates an EtcdCluster. If its spec names no version of etcd, it has the one that the stories are told with.
func (e *Env) NewCluster(ctx context.Context, namespace, name string, spec v1beta2.EtcdClusterSpec) (*Cluster, error) {
	if err := e.Namespace(ctx, namespace); err != nil {
		return nil, err
	}
	if spec.Version == "" && len(e.EtcdVersions) > 0 {
		spec.Version = e.EtcdVersions[0]
	}
	err := e.Create(ctx, &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec,
	})
	return &Cluster{Env: e, Namespace: namespace, Name: name}, err
}

// Edit changes the spec.
func (c *Cluster) Edit(ctx context.Context, change func(*v1beta2.EtcdClusterSpec)) error {
	object, err := c.Get(ctx)
	if err != nil {
		return err
	}
	before := object.DeepCopy()
	change(&object.Spec)
	return c.Patch(ctx, object, client.MergeFrom(before))
}

// Healthy waits until every member that the spec asks for is a ready voter whose pod is ready, no one else is listed,
// and the operator has nothing left to do.
func (c *Cluster) Healthy(ctx context.Context, limit time.Duration) error {
	return Await(ctx, c.Name+" healthy", limit, func(ctx context.Context) (string, bool) {
		object, err := c.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		s := object.Status
		seen := fmt.Sprintf("phase %s, ready %v, unready %v, %s", s.Phase, s.Members.Ready, s.Members.Unready, Words(object))
		if s.ObservedGeneration != object.Generation || len(s.Members.Ready) != int(object.Spec.Size) ||
			len(s.Members.Unready) != 0 || int(s.Size) != int(object.Spec.Size) {
			return seen, false
		}
		ready, err := c.readyPods(ctx)
		return fmt.Sprintf("%s, pods ready %d, %v", seen, ready, err), err == nil && ready == int(object.Spec.Size)
	})
}

// Recovered waits until the cluster is healthy without the pod of that UID.
func (c *Cluster) Recovered(ctx context.Context, without types.UID, limit time.Duration) error {
	err := Await(ctx, "the pod is gone", limit, func(ctx context.Context) (string, bool) {
		pods, err := c.Pods(ctx)
		gone := err == nil && !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.UID == without })
		return fmt.Sprint(err), gone
	})
	if err != nil {
		return err
	}
	return c.Healthy(ctx, limit)
}

// Settled waits until the operator says that the spec is reached.
func (c *Cluster) Settled(ctx context.Context, limit time.Duration) error {
	return c.Says(ctx, v1beta2.ConditionProgressing, v1beta2.ReasonSpecReached, limit)
}

// Says waits until a condition carries that reason.
func (c *Cluster) Says(ctx context.Context, condition, reason string, limit time.Duration) error {
	return Await(ctx, fmt.Sprintf("%s: %s with reason %s", c.Name, condition, reason), limit,
		func(ctx context.Context) (string, bool) {
			object, err := c.Get(ctx)
			if err != nil {
				return err.Error(), false
			}
			found := meta.FindStatusCondition(object.Status.Conditions, condition)
			return Words(object), found != nil && found.Reason == reason &&
				found.ObservedGeneration == object.Generation
		})
}

// Words are the conditions in one line.
func Words(object *v1beta2.EtcdCluster) string {
	text := ""
	for _, c := range object.Status.Conditions {
		text += fmt.Sprintf("%s=%s (%s: %s) ", c.Type, c.Status, c.Reason, c.Message)
	}
	return text
}

// Pods are the members' pods.
func (c *Cluster) Pods(ctx context.Context) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := c.List(ctx, pods, client.InNamespace(c.Namespace), client.MatchingLabels{"etcd_cluster": c.Name})
	return pods.Items, err
}

func (c *Cluster) readyPods(ctx context.Context) (int, error) {
	pods, err := c.Pods(ctx)
	n := 0
	for _, pod := range pods {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil {
				n++
			}
		}
	}
	return n, err
}

// KillPod deletes a pod without grace and waits until the operator could see that.
func (c *Cluster) KillPod(ctx context.Context, name string) error {
	now := int64(0)
	return c.Kube.CoreV1().Pods(c.Namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// Remove deletes the EtcdCluster and waits until its pods are gone.
func (c *Cluster) Remove(ctx context.Context, limit time.Duration) error {
	err := c.Delete(ctx, &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return Await(ctx, c.Name+" gone", limit, func(ctx context.Context) (string, bool) {
		pods, err := c.Pods(ctx)
		return fmt.Sprintf("%d pods, %v", len(pods), err), err == nil && len(pods) == 0
	})
}
