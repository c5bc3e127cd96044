package stories

import (
	"context"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// memoryFaults are about a quorum that is lost for want of memory, which an edit of the spec gives back.
var memoryFaults = []fault{
	{
		family: "memory", name: "starving-three", title: "three members that end for want of memory, a pod deleted meanwhile, and more memory",
		spec: starving(3), breaks: func(s *trial) { s.starve(true) },
	},
	{
		family: "memory", name: "starving-one", title: "a cluster of one that ends for want of memory, and more memory",
		spec: starving(1), breaks: func(s *trial) { s.starve(false) },
	},
}

// starving is a cluster on volumes whose members have enough memory to start, and no more.
func starving(size int32) v1beta2.EtcdClusterSpec {
	spec := onVolumes(size)
	spec.Pod.Resources = upTo("96Mi")
	return spec
}

// upTo is what a member may have. The requests stay, for a change of what Kubernetes calls the quality of service takes another pod.
func upTo(memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
	}
}

// starve writes until the members lack the memory to start again with what they hold, and gives it to them.
func (s *trial) starve(losesPod bool) {
	s.t.Helper()
	before := s.identities()
	s.breaking()
	s.outgrow()
	s.noticing()
	if losesPod {
		pod := s.pod(s.names("")[0])
		must(s.t, s.KillPod(s.t.Context(), pod.Name))
		s.askedAgain(*pod, time.Now())
	}
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Resources = upTo("768Mi") })
	s.recover()
	s.accepted()
	s.same(before)
	for _, name := range s.names("") {
		if got := s.pod(name).Spec.Containers[0].Resources.Limits.Memory().String(); got != "768Mi" {
			s.t.Errorf("%s may have %s of memory", name, got)
		}
	}
	s.serves(s.names("")...)
}

// outgrow writes values of a megabyte, each of which etcd holds in memory until it is in a snapshot, until a majority of the members has
// failed to start with them.
func (s *trial) outgrow() {
	s.t.Helper()
	const most, size = 300, 1 << 20
	written := 0
	must(s.t, harness.Await(s.t.Context(), "no quorum for want of memory", 2*limit, func(ctx context.Context) (string, bool) {
		if written < most {
			err := s.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
				_, err := etcd.Put(ctx, fmt.Sprintf("big/%d", written), strings.Repeat("x", size))
				return err
			})
			if err == nil {
				written++
			}
		}
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionAvailable)
		failing, err := s.failing(ctx)
		return fmt.Sprintf("%d MiB written, %d members fail, %v, %s", written, failing, err, harness.Words(object)),
			failing > int(s.spec.Size)/2 && c != nil && c.Status == metav1.ConditionFalse && c.Reason == v1beta2.ReasonQuorumLost
	}))
	s.t.Logf("no quorum after %d MiB were written, and %.1f s", written, time.Since(s.broken).Seconds())
}

// failing counts the members that the kubelet has started again and again and that do not run.
func (s *trial) failing(ctx context.Context) (int, error) {
	pods, err := s.Pods(ctx)
	n := 0
	for _, pod := range pods {
		for _, c := range pod.Status.ContainerStatuses {
			if c.RestartCount >= 2 && c.State.Running == nil {
				n++
			}
		}
	}
	return n, err
}
