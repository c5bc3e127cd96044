package stories

import (
	"context"
	"fmt"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestAutoscaler has Kubernetes' own autoscaler set the size, as it does whenever its bounds exclude the present one: up to 5, and back to 3.
func TestAutoscaler(t *testing.T) {
	t.Parallel()
	editions(t, autoscaler)
}

func autoscaler(t *testing.T, etcd edition) {
	s := etcd.begin(t, "autoscaler", v1beta2.EtcdClusterSpec{Size: 3})
	s.settled()
	s.client()
	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
			APIVersion: v1beta2.GroupVersion.String(), Kind: "EtcdCluster", Name: s.Name,
		}},
	}
	for _, size := range []int32{5, 3} {
		_, err := controllerutil.CreateOrUpdate(t.Context(), s.Client, scaler, func() error {
			scaler.Spec.MinReplicas, scaler.Spec.MaxReplicas = &size, size
			return nil
		})
		must(t, err)
		s.isScaled(size)
		s.healthy(fmt.Sprintf("scaled to %d", size))
		s.settled()
	}
	s.report("scaled by a HorizontalPodAutoscaler")
}

// isScaled waits until somebody has set the size.
func (s *story) isScaled(size int32) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("a size of %d", size), limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("the size is %d", object.Spec.Size), object.Spec.Size == size
	}))
}
