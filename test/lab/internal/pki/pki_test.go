package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func ensure(t *testing.T, dir string) *Authority {
	t.Helper()
	authority, err := Ensure(dir)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func TestCertificates(t *testing.T) {
	authority := ensure(t, t.TempDir())
	subject := Subject{CommonName: "system:node:n1", Organization: "system:nodes", Hosts: []string{"172.30.0.11", "n1"}}
	if err := authority.EnsureCert("kubelet", subject); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(authority.Cert("kubelet"), authority.Key("kubelet"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.cert)
	for _, host := range append(subject.Hosts, "") {
		for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			_, err := pair.Leaf.Verify(x509.VerifyOptions{
				Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage},
			})
			if err != nil {
				t.Errorf("as %q for usage %d: %v", host, usage, err)
			}
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "n2"}); err == nil {
		t.Error("the certificate is good for another node's name")
	}
	if name := pair.Leaf.Subject; name.CommonName != subject.CommonName || name.Organization[0] != "system:nodes" {
		t.Errorf("the subject is %s", name)
	}
}

func TestNothingIsMadeTwice(t *testing.T) {
	dir := t.TempDir()
	read := func() map[string][]byte {
		authority := ensure(t, dir)
		if err := authority.EnsureKey("service-account"); err != nil {
			t.Fatal(err)
		}
		if err := authority.EnsureCert("admin", Subject{CommonName: "admin"}); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		contents := map[string][]byte{}
		for _, file := range files {
			if contents[file], err = os.ReadFile(file); err != nil { // #nosec G304 -- a file of the test
				t.Fatal(err)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s may be read by others: %v, %v", file, info.Mode(), err)
			}
		}
		return contents
	}
	first, second := read(), read()
	const files = 6 // ca, service-account and admin, two files each.
	if len(first) != files || len(second) != files {
		t.Fatalf("there are %d files, then %d, want %d", len(first), len(second), files)
	}
	for file, content := range first {
		if !bytes.Equal(content, second[file]) {
			t.Errorf("%s was made again", file)
		}
	}
}

func TestDamagedAuthorityIsReported(t *testing.T) {
	dir := t.TempDir()
	ensure(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "ca.key"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Ensure(dir); err == nil {
		t.Error("a damaged key was taken")
	}
}

func TestKubeconfig(t *testing.T) {
	authority := ensure(t, t.TempDir())
	if err := authority.EnsureCert("admin", Subject{CommonName: "admin", Organization: "system:masters"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := authority.WriteKubeconfig(file, "https://172.30.0.1:6443", "admin"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file) // #nosec G304 -- a file of the test
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Clusters []struct {
			Cluster map[string]string `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User map[string]string `json:"user"`
		} `json:"users"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	if got := config.Clusters[0].Cluster["server"]; got != "https://172.30.0.1:6443" {
		t.Errorf("the server is %q", got)
	}
	user := config.Users[0].User
	var pem [2][]byte
	for i, field := range []string{"client-certificate-data", "client-key-data"} {
		if pem[i], err = base64.StdEncoding.DecodeString(user[field]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tls.X509KeyPair(pem[0], pem[1]); err != nil {
		t.Errorf("the user's certificate and key: %v", err)
	}
}
