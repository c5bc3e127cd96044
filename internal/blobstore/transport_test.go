package blobstore

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestServerName connects to two servers, both with a certificate for example.com, by their addresses: the endpoint is accepted as
// example.com, and nobody else is, because credentials may be fetched from there.
func TestServerName(t *testing.T) {
	endpoint, other := greeter(t), greeter(t)
	tr := &http.Transport{}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: endpoint.Certificate().Raw})
	if err := trust(tr, Target{Endpoint: endpoint.URL, ServerName: "example.com", CA: ca}); err != nil {
		t.Fatal(err)
	}
	defer tr.CloseIdleConnections()
	web := &http.Client{Transport: tr}
	get := func(url string) (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		return web.Do(request)
	}
	answer, err := get(endpoint.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "hello" {
		t.Errorf("it answers %q, %v", text, err)
	}
	if answer, err := get(strings.Replace(other.URL, "127.0.0.1", "localhost", 1)); err == nil {
		_ = answer.Body.Close()
		t.Error("another server is taken for example.com")
	} else if !strings.Contains(err.Error(), "not localhost") {
		t.Errorf("another server is refused: %v", err)
	}
}

// greeter is a server by TLS with httptest's certificate, which is for example.com and 127.0.0.1.
func greeter(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	t.Cleanup(s.Close)
	return s
}
