package metrics

import (
	"context"
	"path"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// EtcdCalls counts calls to etcd servers, by method and outcome: gRPC's name of the status code, "OK" among them.
var EtcdCalls = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "etcd_operator_etcd_calls_total",
	Help: "Calls to etcd servers, by method and outcome (gRPC's status code).",
}, []string{"method", "outcome"})

func init() { metrics.Registry.MustRegister(EtcdCalls) }

// CountEtcdCall is a grpc.UnaryClientInterceptor that counts each attempt in EtcdCalls.
func CountEtcdCall(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, connection, options...)
	EtcdCalls.WithLabelValues(path.Base(method), status.Code(err).String()).Inc()
	return err
}
