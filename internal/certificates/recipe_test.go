package certificates

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// secrets is a kubectl that writes the files of a Secret into a folder of its name.
const secrets = `#!/bin/sh
mkdir -p "$SECRETS/$6"
for file in "$@"; do
  case $file in
  --from-file=*=*) cp "${file##*=}" "$SECRETS/$6/$(echo "$file" | cut -d= -f2)" ;;
  --from-file=*) cp "${file#*=}" "$SECRETS/$6/" ;;
  esac
done
`

// TestRecipe runs what docs/tls.md shows to make Secrets with, and starts a cluster with them.
func TestRecipe(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip(err)
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "tls.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(doc), "```sh\nC=example")
	script, _, found := strings.Cut("C=example"+script, "```")
	if !found {
		t.Fatal("docs/tls.md has no recipe")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(secrets), 0o700); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "sh", "-ec", script)
	run.Dir, run.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SECRETS="+dir)
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	read := func(name string) Source {
		source := Source{Name: name, Data: map[string][]byte{}}
		files, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if source.Data[f.Name()], err = os.ReadFile(filepath.Join(dir, name, f.Name())); err != nil {
				t.Fatal(err)
			}
		}
		return source
	}
	c := userGiven(t, &Static{
		Field: "spec.tls.static", Peer: read("etcd-peer-tls"), Server: read("etcd-server-tls"), Operator: read("etcd-client-tls"),
	}, "example-0", "example-1")
	c.o.Now, c.o.Names = time.Now(), Names{Cluster: "example", Namespace: "default"}
	if d := c.run(); d.Problem != nil || len(d.Warnings) > 0 || !d.Settled {
		t.Errorf("problem %+v, warnings %q", d.Problem, d.Warnings)
	}
	if err := parse(t, c.o.Static.Server.Data["server.crt"])[0].VerifyHostname("127.0.0.1"); err != nil {
		t.Errorf("etcdctl does not accept members at the end of a tunnel: %v", err)
	}
	leaf := parse(t, c.o.Static.Operator.Data["etcd-client.crt"])[0]
	if leaf.Subject.CommonName != operatorUser {
		t.Errorf("the operator's certificate names user %q, so authentication cannot be switched on", leaf.Subject.CommonName)
	}
	if !slices.Equal(leaf.DNSNames, []string{"etcd-client"}) || !slices.Equal(leaf.ExtKeyUsage, clientOnly) {
		t.Errorf("a client has the names %v and the usages %v", leaf.DNSNames, leaf.ExtKeyUsage)
	}
}
