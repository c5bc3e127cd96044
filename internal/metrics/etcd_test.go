package metrics_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

func TestCountEtcdCall(t *testing.T) {
	silent := status.Error(codes.DeadlineExceeded, "silent")
	for _, answer := range []error{nil, silent, nil} {
		err := metrics.CountEtcdCall(t.Context(), "/etcdserverpb.Maintenance/Status", nil, nil, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return answer })
		if !errors.Is(err, answer) {
			t.Errorf("the call says %v, the caller gets %v", answer, err)
		}
	}
	for outcome, want := range map[string]float64{"OK": 2, "DeadlineExceeded": 1} {
		if got := calls(t, outcome); got != want {
			t.Errorf("%v calls with outcome %s, want %v", got, outcome, want)
		}
	}
}

// calls reads what is served to whoever collects the metrics.
func calls(t *testing.T, outcome string) float64 {
	t.Helper()
	families, err := registry.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if family.GetName() == "etcd_operator_etcd_calls_total" && label.GetValue() == outcome {
					total += m.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}
