package diagnose_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/diagnose"
)

const planted = `p4ss"word\planted`

// TestSecretsAreLeftOut plants a password wherever one may be, and finds it nowhere; what is no secret stays.
func TestSecretsAreLeftOut(t *testing.T) {
	b := &diagnose.Bundle{}
	var said strings.Builder
	b.Say = func(words string) { said.WriteString(words + "\n") }
	type object = map[string]any
	b.Object("o.yaml", object{
		"metadata": object{
			"name": "demo", "managedFields": []any{planted},
			"annotations": object{
				"kubectl.kubernetes.io/last-applied-configuration": `{"password":"` + planted + `"}`, "etcd.database.coreos.com/metadata": planted,
				"etcd.database.coreos.com/etcd-version": "3.6.16",
			},
		},
		"spec": object{
			"etcd": object{"extraArgs": object{"token": planted, "size": 5}},
			"pod":  object{"etcdEnv": []any{object{"name": "A", "value": planted}}, "annotations": object{"x": planted}},
			"containers": []any{object{
				"name": "etcd", "command": []any{"etcd", planted}, "args": []any{planted},
				"env":           []any{object{"name": "B", "value": planted}, object{"name": "C", "valueFrom": object{"secretKeyRef": object{"name": "s"}}}},
				"livenessProbe": object{"httpGet": object{"httpHeaders": []any{object{"name": "Authorization", "value": planted}}}},
			}},
			"volumes": []any{object{"csi": object{"volumeAttributes": object{"key": planted}}}},
		},
		"status": object{"message": "it says " + planted, "internal": object{"acceptedSpec": object{"etcd": object{"extraArgs": object{"token": planted}}}}},
	})
	b.Text("log", `{"msg":"args","value":"p4ss\"word\\planted"} http://me:other@host/ {"variable-name":"X","variable-value":"third\"one"} `+planted)
	b.Missing("logs", errors.New("asked for "+planted))
	files := pack(t, b)
	for name, text := range files {
		for _, secret := range []string{planted, `p4ss\"word\\planted`, `word\planted`, "other@", "third"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is in %s:\n%s", secret, name, text)
			}
		}
	}
	if strings.Contains(said.String(), planted) || !strings.Contains(said.String(), "! logs: asked for "+diagnose.Redacted) {
		t.Errorf("it says\n%s", said.String())
	}
	for _, want := range []string{"name: demo", "etcd-version: 3.6.16", "secretKeyRef", "- etcd\n", "it says " + diagnose.Redacted} {
		if !strings.Contains(files["demo/o.yaml"], want) {
			t.Errorf("no %q in\n%s", want, files["demo/o.yaml"])
		}
	}
	if !strings.Contains(files["demo/README"], "  o.yaml\n  log\n") || !strings.Contains(files["demo/README"], "Could not be had:\n  logs: ") {
		t.Errorf("README:\n%s", files["demo/README"])
	}
}

// TestOwn leaves the lines about other namespaces out of a log, and those of which nobody knows.
func TestOwn(t *testing.T) {
	own := `{"msg":"a","EtcdCluster":{"name":"demo","namespace":"app"}}
{"level":"info","msg":"starting"}
2026-11-25T18:00:00Z	INFO	c	{"namespace": "app"}
2026-11-25T18:00:00.123+0100	INFO	starting
1.7640864e+09	info	starting
1764086400.123	info	starting
`
	log := `"name":"vault","message":"the first line is cut: bank"}
{"msg":"b","EtcdCluster":{"name":"demo","namespace":"bank"}}
2026-11-25T18:00:00Z	INFO	c	{"namespace": "bank"}
2026-11-25T18:00:00Z	ERROR	bank	{"namespace": "bank"}
bank.(*vault).open
	/src/bank/vault.go:12
` + own + `{"msg":"the last line is cut","EtcdCluster":{"name":"bank","names`
	if got := diagnose.Own(log, "app"); got != own {
		t.Errorf("left is\n%s", got)
	}
}

func pack(t *testing.T, b *diagnose.Bundle) map[string]string {
	t.Helper()
	var packed bytes.Buffer
	if err := b.Write(&packed, "demo", diagnose.About("app", "demo", "dev", time.Now()), time.Now()); err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(text)
	}
}
