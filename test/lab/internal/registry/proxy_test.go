package registry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// viaProxy returns how a client of a proxy asks, that trusts an authority.
func viaProxy(t *testing.T, address string, authority []byte) *http.Transport {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	proxy, err := url.Parse("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		Proxy:           http.ProxyURL(proxy),
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func TestProxyIsEveryRegistry(t *testing.T) {
	folder := t.TempDir()
	handler := Broken("").deny(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	proxy, err := newProxy(folder, handler, log.New(io.Discard, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	go proxy.serve()
	defer proxy.close()
	server := httptest.NewServer(proxy)
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")

	img, err := image.Build(image.Spec{Files: map[string]image.File{"/hello": {Content: "hello"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := image.Push(t.Context(), img, "ghcr.io/a/b:c", address); err != nil {
		t.Fatal(err)
	}
	env, err := ProxyEnvironment(folder)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(env["SSL_CERT_FILE"])
	if err != nil {
		t.Fatal(err)
	}
	find := func(reference string, authority []byte) error {
		ref, err := name.ParseReference(reference)
		if err != nil {
			t.Fatal(err)
		}
		_, err = remote.Get(ref, remote.WithContext(t.Context()), remote.WithTransport(viaProxy(t, address, authority)))
		return err
	}
	for _, reference := range []string{"ghcr.io/a/b:c", "quay.io/a/b:c", "a/b:c", "ghcr.io/a/b:c"} {
		if err := find(reference, authority); err != nil {
			t.Errorf("%s: %v", reference, err)
		}
	}
	if err := find("ghcr.io/a/absent:c", authority); err == nil || !strings.Contains(err.Error(), "NAME_UNKNOWN") {
		t.Errorf("an image that is not there: %v", err)
	}
	var unknown x509.UnknownAuthorityError
	if err := find("ghcr.io/a/b:c", nil); !errors.As(err, &unknown) {
		t.Errorf("without the authority: %v, want %T", err, unknown)
	}
}

func TestProxyVouchesForRegistriesOnly(t *testing.T) {
	proxy, err := newProxy(t.TempDir(), http.NotFoundHandler(), log.New(io.Discard, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"", "../ca", "a/b"} {
		if _, err := proxy.certificate(&tls.ClientHelloInfo{ServerName: host}); err == nil {
			t.Errorf("it vouches for %q", host)
		}
	}
}
