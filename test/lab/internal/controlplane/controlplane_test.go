package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

func authority(t *testing.T) (state.Dir, *pki.Authority) {
	t.Helper()
	dir := state.Dir(t.TempDir())
	certs, err := pki.Ensure(dir.PKI())
	if err != nil {
		t.Fatal(err)
	}
	if err := EnsureCerts(dir, certs); err != nil {
		t.Fatal(err)
	}
	return dir, certs
}

func TestOnlyTheBridgeAndLoopbackAreListenedOn(t *testing.T) {
	dir, certs := authority(t)
	args := slices.Concat(etcdArgs("/data"), apiserverArgs(certs),
		controllerManagerArgs(dir, certs), schedulerArgs("/kubeconfig"))
	var addresses []string
	for _, arg := range args {
		flag, value, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(flag, "--listen-") || flag == "--bind-address" {
			addresses = append(addresses, value)
			if !strings.Contains(value, network.HostIP) && !strings.Contains(value, "127.0.0.1") {
				t.Errorf("%s opens the control plane to others", arg)
			}
		}
	}
	const listeners = 5 // etcd has two.
	if len(addresses) != listeners {
		t.Errorf("listeners are %v: one of the components is left to its default", addresses)
	}
}

func TestFilesOfFlagsExist(t *testing.T) {
	dir, certs := authority(t)
	if err := ensureAuditPolicy(dir); err != nil {
		t.Fatal(err)
	}
	args := slices.Concat(apiserverArgs(certs), auditArgs(dir), controllerManagerArgs(dir, certs),
		schedulerArgs(Kubeconfig(dir, Scheduler)))
	checked := 0
	for _, arg := range args {
		flag, value, _ := strings.Cut(arg, "=")
		if !strings.HasPrefix(value, dir.String()) || flag == "--flex-volume-plugin-dir" || flag == "--audit-log-path" {
			continue
		}
		checked++
		if _, err := os.Stat(value); err != nil {
			t.Errorf("%s: %v", arg, err)
		}
	}
	if checked == 0 {
		t.Error("no flag names a file")
	}
	for _, file := range []string{dir.Kubeconfig(), Kubeconfig(dir, "kube-proxy")} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

func TestClientTrustsTheAPIAndIsTrusted(t *testing.T) {
	_, certs := authority(t)
	pair, err := tls.LoadX509KeyPair(certs.Cert(APIServer), certs.Key(APIServer))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(certs.Cert("ca"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data)
	status := http.StatusOK
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte("user " + r.TLS.PeerCertificates[0].Subject.CommonName))
	}))
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots,
		MinVersion: tls.VersionTLS13,
	}
	server.StartTLS()
	defer server.Close()
	client, err := Client(certs)
	if err != nil {
		t.Fatal(err)
	}
	if err := get(t.Context(), client, server.URL); err != nil {
		t.Error(err)
	}
	status = http.StatusServiceUnavailable
	if err := get(t.Context(), client, server.URL); err == nil || !strings.Contains(err.Error(), "user admin") {
		t.Errorf("the answer of an API that is not ready is not told: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := get(ctx, client, server.URL); err == nil {
		t.Error("a cancelled request succeeds")
	}
}

// TestStartClient starts each of those that work through the API with its own credentials, and nothing else.
func TestStartClient(t *testing.T) {
	dir, certs := authority(t)
	for _, name := range []string{ControllerManager, Scheduler} {
		var started []string
		plane := Plane{
			State: dir, Certs: certs, Programs: Programs{Kubernetes: "/bin"},
			Ensure: func(name string, args ...string) (process.Record, error) {
				started = append(started, name)
				started = append(started, args...)
				return process.Record{}, nil
			},
		}
		if err := plane.StartClient(name); err != nil {
			t.Fatal(err)
		}
		if len(started) < 2 || started[0] != name || started[1] != "/bin/"+name ||
			!slices.Contains(started, "--kubeconfig="+Kubeconfig(dir, name)) {
			t.Errorf("%s is started as %v", name, started)
		}
	}
}
