package metrics

import (
	"context"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// etcdCalls counts calls to etcd servers, by method and outcome: gRPC's name of the status code, "OK" among them.
var etcdCalls = counter("etcd_calls_total", "Calls to etcd servers, by method and outcome (gRPC's status code).", "method", "outcome")

// CountEtcdCall is a grpc.UnaryClientInterceptor that counts each attempt.
func CountEtcdCall(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, connection, options...)
	etcdCalls.WithLabelValues(path.Base(method), status.Code(err).String()).Inc()
	return err
}
