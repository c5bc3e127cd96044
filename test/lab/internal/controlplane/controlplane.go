package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// Programs are the paths of the programs that the control plane runs.
type Programs struct {
	// Etcd is etcd's server.
	Etcd string
	// Kubernetes is the folder of Kubernetes' programs.
	Kubernetes string
}

// Plane starts the control plane's components.
type Plane struct {
	// State is the lab's folder.
	State state.Dir
	// Certs are the lab's certificates.
	Certs *pki.Authority
	// Programs to run.
	Programs Programs
	// Ensure starts a component, or finds it running.
	Ensure func(name string, args ...string) (process.Record, error)
}

// EnsureCerts makes all certificates and kubeconfigs of the control plane.
func EnsureCerts(dir state.Dir, certs *pki.Authority) error {
	if err := certs.EnsureKey("service-account"); err != nil {
		return err
	}
	const masters = "system:masters"
	for name, subject := range map[string]pki.Subject{
		"kubelet-client":     {CommonName: "apiserver-kubelet-client", Organization: masters},
		"front-proxy-client": {CommonName: "front-proxy-client"},
		"admin":              {CommonName: "admin", Organization: masters},
		"kube-proxy":         {CommonName: "system:kube-proxy"},
		ControllerManager:    {CommonName: "system:kube-controller-manager"},
		Scheduler:            {CommonName: "system:kube-scheduler"},
		APIServer: {CommonName: APIServer, Hosts: []string{
			network.HostIP, network.APIServiceIP, "127.0.0.1", "localhost", "kubernetes", "kubernetes.default",
			"kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		}},
	} {
		if err := certs.EnsureCert(name, subject); err != nil {
			return err
		}
	}
	for _, name := range []string{ControllerManager, Scheduler, "kube-proxy"} {
		if err := certs.WriteKubeconfig(Kubeconfig(dir, name), Server, name); err != nil {
			return err
		}
	}
	return certs.WriteKubeconfig(dir.Kubeconfig(), Server, "admin")
}

// Kubeconfig is the file through which a component speaks to the API.
func Kubeconfig(dir state.Dir, name string) string {
	return filepath.Join(dir.PKI(), name+".kubeconfig")
}

// Start brings the whole control plane up and waits until the API is ready.
func (p *Plane) Start(ctx context.Context) error {
	record, err := p.Ensure(Etcd, append([]string{p.Programs.Etcd}, etcdArgs(p.State.Join("etcd"))...)...)
	if err != nil {
		return err
	}
	if err := record.WaitReady(ctx, etcdReady); err != nil {
		return err
	}
	if err := ensureAuditPolicy(p.State); err != nil {
		return err
	}
	args := slices.Concat([]string{p.program(APIServer)}, apiserverArgs(p.Certs), auditArgs(p.State))
	record, err = p.Ensure(APIServer, args...)
	if err != nil {
		return err
	}
	client, err := Client(p.Certs)
	if err != nil {
		return err
	}
	if err := record.WaitReady(ctx, func(ctx context.Context) error { return Ready(ctx, client) }); err != nil {
		return err
	}
	for _, name := range []string{ControllerManager, Scheduler} {
		if err := p.awaitRights(ctx, record, name); err != nil {
			return err
		}
		if err := p.StartClient(name); err != nil {
			return err
		}
	}
	return nil
}

// awaitRights waits until the API server lets a component read what it reads first. An API server that says that it is ready may not have
// read all roles yet, and a component that is refused ends.
func (p *Plane) awaitRights(ctx context.Context, server process.Record, name string) error {
	client, err := clientOf(p.Certs, name)
	if err != nil {
		return err
	}
	const first = Server + "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	return server.WaitReady(ctx, func(ctx context.Context) error { return get(ctx, client, first) })
}

// StartClient starts a component that works through the API, ControllerManager or Scheduler, or finds it running.
func (p *Plane) StartClient(name string) error {
	args := schedulerArgs(Kubeconfig(p.State, Scheduler))
	if name == ControllerManager {
		args = controllerManagerArgs(p.State, p.Certs)
	}
	_, err := p.Ensure(name, append([]string{p.program(name)}, args...)...)
	return err
}

func (p *Plane) program(name string) string { return filepath.Join(p.Programs.Kubernetes, name) }

func etcdReady(ctx context.Context) error { return get(ctx, http.DefaultClient, etcdClient+"/health") }

// Ready returns nil once the API server says that it is ready.
func Ready(ctx context.Context, client *http.Client) error { return get(ctx, client, Server+"/readyz") }

// Client returns an HTTP client with the administrator's certificate.
func Client(certs *pki.Authority) (*http.Client, error) { return clientOf(certs, "admin") }

func clientOf(certs *pki.Authority, name string) (*http.Client, error) {
	pair, err := tls.LoadX509KeyPair(certs.Cert(name), certs.Key(name))
	if err != nil {
		return nil, fmt.Errorf("load the certificate of %s: %w", name, err)
	}
	authority, err := os.ReadFile(certs.Cert("ca"))
	if err != nil {
		return nil, fmt.Errorf("load the certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("the certificate authority holds no certificate")
	}
	const requestTimeout = 5 * time.Second
	return &http.Client{
		Timeout: requestTimeout,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13,
		}},
	}, nil
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}
