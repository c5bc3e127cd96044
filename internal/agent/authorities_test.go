package agent

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAuthorities wants those that the process brings along to be trusted where there are no others, as in its image, and only
// there. Go reads them once, so the test runs itself in other processes.
func TestAuthorities(t *testing.T) {
	const child = "TEST_AUTHORITY"
	if file := os.Getenv(child); file != "" {
		trusted, err := x509.SystemCertPool()
		if err != nil {
			t.Fatal(err)
		}
		only := x509.NewCertPool()
		if data, err := os.ReadFile(file); err == nil && !only.AppendCertsFromPEM(data) {
			t.Fatal("no certificate")
		}
		_, err = os.Stat(file)
		if given := err == nil; trusted.Equal(only) != given {
			t.Errorf("with %s it trusts only that: %v", file, !given)
		}
		return
	}
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	given := filepath.Join(t.TempDir(), "ca.crt")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(given, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"/nowhere", given} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), child+"="+file, "SSL_CERT_FILE="+file, "SSL_CERT_DIR=/nowhere")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}
