package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/bench/meter"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	metricsPort = 8443
	// scraper names the service account that may read the metrics, and its binding.
	scraper = "etcd-bench-scraper"
	// tokenLife is in seconds; a bench takes less.
	tokenLife = 4 * 3600
)

// operatorMeter reads the metrics of the one operator that runs, as Prometheus would.
type operatorMeter struct {
	env       *harness.Env
	token     string
	port      uint16
	stop      chan struct{}
	forwarded chan error
}

func openMeter(ctx context.Context, env *harness.Env) (m *operatorMeter, err error) {
	m = &operatorMeter{env: env, stop: make(chan struct{}), forwarded: make(chan error, 1)}
	if err := m.grant(ctx); err != nil {
		return nil, errors.Join(err, m.revoke(ctx))
	}
	if err := m.forward(ctx); err != nil {
		return nil, errors.Join(err, m.revoke(ctx))
	}
	return m, nil
}

func (m *operatorMeter) close(ctx context.Context) error {
	close(m.stop)
	return errors.Join(<-m.forwarded, m.revoke(ctx))
}

func (m *operatorMeter) objects() []client.Object {
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: scraper}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: scraper},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "etcd-operator-metrics-reader"},
			Subjects: []rbacv1.Subject{{
				Kind: rbacv1.ServiceAccountKind, Namespace: harness.OperatorNamespace, Name: scraper,
			}},
		},
	}
}

func (m *operatorMeter) grant(ctx context.Context) error {
	for _, o := range m.objects() {
		if err := m.env.Create(ctx, o); client.IgnoreAlreadyExists(err) != nil {
			return err
		}
	}
	life := int64(tokenLife)
	token, err := m.env.Kube.CoreV1().ServiceAccounts(harness.OperatorNamespace).CreateToken(ctx, scraper,
		&authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &life},
		}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("ask for a token to read the metrics: %w", err)
	}
	m.token = token.Status.Token
	return nil
}

func (m *operatorMeter) revoke(ctx context.Context) error {
	var err error
	for _, o := range m.objects() {
		err = errors.Join(err, client.IgnoreNotFound(m.env.Delete(ctx, o)))
	}
	return err
}

// forward leads a local port to the operator's.
func (m *operatorMeter) forward(ctx context.Context) error {
	pods := &corev1.PodList{}
	// One that was there before may take its time to go.
	err := harness.Await(ctx, "one operator", limit, func(ctx context.Context) (string, bool) {
		err := m.env.List(ctx, pods, client.InNamespace(harness.OperatorNamespace),
			client.MatchingLabels{"control-plane": "controller-manager"})
		return fmt.Sprintf("%d pods, %v", len(pods.Items), err), err == nil && len(pods.Items) == 1
	})
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", m.env.Kubeconfig)
	if err != nil {
		return err
	}
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return err
	}
	url := m.env.Kube.CoreV1().RESTClient().Post().Namespace(harness.OperatorNamespace).
		Resource("pods").Name(pods.Items[0].Name).SubResource("portforward").URL()
	ready := make(chan struct{})
	forwarder, err := portforward.New(spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url),
		[]string{fmt.Sprintf("0:%d", metricsPort)}, m.stop, ready, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	go func() { m.forwarded <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-m.forwarded:
		return fmt.Errorf("reach the operator's metrics: %w", err)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return err
	}
	m.port = ports[0].Local
	return nil
}

// read asks once. To let us in costs the operator two requests to the API server.
func (m *operatorMeter) read(ctx context.Context) (r meter.Reading, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("https://127.0.0.1:%d/metrics", m.port), nil)
	if err != nil {
		return r, err
	}
	request.Header.Set("Authorization", "Bearer "+m.token)
	c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true,
		// The certificate is self-signed, and the way there is the API server's own.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}}
	response, err := c.Do(request)
	if err != nil {
		return r, fmt.Errorf("read the operator's metrics: %w", err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return r, fmt.Errorf("read the operator's metrics: %s", response.Status)
	}
	return meter.Parse(response.Body, time.Now())
}
