package reach

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// local are the ports of this machine that lead to a member while the tunnel is open, on the loopback interface only.
type local struct{ client, metrics string }

// forward opens a tunnel to a pod through the API server, as "kubectl port-forward" does, and calls use while it is open.
func (a *Access) forward(ctx context.Context, pod string, use func(local)) error {
	dialer, err := a.dialer(pod)
	if err != nil {
		return err
	}
	tunnelled, stop := context.WithCancel(ctx)
	defer stop()
	ready := make(chan struct{})
	ports := []string{"0:" + strconv.Itoa(member.ClientPort), "0:" + strconv.Itoa(member.MetricsPort)}
	tunnel, err := portforward.NewOnAddressesForStreamingWithContext(tunnelled, dialer, []string{"127.0.0.1"}, ports, ready, io.Discard, io.Discard)
	if err != nil {
		return fmt.Errorf("forward ports of %s: %w", pod, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- tunnel.ForwardPorts() }()
	select {
	case err := <-ended:
		return fmt.Errorf("forward ports of %s: %w", pod, err)
	case <-ctx.Done():
		return fmt.Errorf("forward ports of %s: %w", pod, context.Cause(ctx))
	case <-ready:
	}
	forwarded, err := tunnel.GetPorts()
	if err != nil {
		return fmt.Errorf("forward ports of %s: %w", pod, err)
	}
	if len(forwarded) != len(ports) {
		return fmt.Errorf("forward ports of %s: %d were opened and not %d", pod, len(forwarded), len(ports))
	}
	use(local{address(forwarded[0]), address(forwarded[1])})
	return nil
}

func address(port portforward.ForwardedPort) string {
	return "127.0.0.1:" + strconv.Itoa(int(port.Local))
}

// dialer speaks WebSocket, and SPDY with an API server, or a proxy before it, that does not.
func (a *Access) dialer(pod string) (httpstream.Dialer, error) {
	target, err := a.portForwardURL(pod)
	if err != nil {
		return nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(a.config)
	if err != nil {
		return nil, err
	}
	old := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, target)
	tunnel, err := portforward.NewSPDYOverWebsocketDialerForStreaming(target, a.config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(tunnel, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

func (a *Access) portForwardURL(pod string) (*url.URL, error) {
	base, _, err := rest.DefaultServerUrlFor(a.config)
	if err != nil {
		return nil, fmt.Errorf("the address of the API server: %w", err)
	}
	return base.JoinPath("api", "v1", "namespaces", a.namespace, "pods", pod, "portforward"), nil
}
