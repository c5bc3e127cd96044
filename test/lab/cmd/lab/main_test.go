package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// run runs one command line and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := rootCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestVerbsSayThatThereIsNoLab(t *testing.T) {
	t.Setenv("ETCD_OPERATOR_LAB", t.TempDir())
	for _, line := range []string{
		"status", "kubeconfig", "logs etcd", "load a:b /c", "image --name a:b --file main.go:/a",
		"bundle a:b /c", "catalog a:b /c", "addon olm", "addon prometheus",
		"fault kill-node n1", "fault stop-node n1", "fault isolate-node n1", "fault heal-node n1",
		"fault partition n1 n2", "fault partition-one-way n1 n2", "fault kill a/b/c", "fault freeze a/b/c", "fault thaw a/b/c", "fault wipe-volume a/b",
		"fault corrupt-wal a/b", "fault corrupt-db a/b", "fault diverge-member a/b text", "fault create-disk n1/a", "fault remove-disk n1/a",
		"fault fill-disk n1/a", "fault free-disk n1/a", "fault slow-disk n1/a", "fault fast-disk n1/a",
		"fault break-image a:b", "fault mend-image a:b", "fault break-tags a/b", "fault mend-tags a/b",
		"fault remove-image n1 a:b",
		"fault slow-link n1", "fault fast-link n1", "fault jump-clock", "fault delay-volumes", "fault restore-clock", "fault stop-api-server", "fault start-api-server",
		"addon minio", "fault stop-addon gcs", "fault freeze-addon gcs", "fault cut-addon gcs", "fault fill-addon gcs",
		"fault seal-addon minio", "fault heal-addon azurite",
	} {
		if _, err := run(t, strings.Fields(line)...); !errors.Is(err, lab.ErrNotUp) {
			t.Errorf("lab %s: %v, want %v", line, err, lab.ErrNotUp)
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	t.Setenv("ETCD_OPERATOR_LAB", t.TempDir())
	for _, line := range []string{
		"nonsense", "up --nodes 0x", "up --nodes -1", "up --nodes 51", "fault kill-node", "fault partition n1",
		"load a:b", "bundle a:b", "catalog a:b", "image --file a:/a", "image --name a:b",
		"image --name a:b --file a", "image --name a:b --file a:relative", "image --name a:b --file :/a", "image --name a:b --file no-such-file:/a",
		"addon", "fault cut-addon", "fault cut-addon gcs --after-kib 1.5",
	} {
		if _, err := run(t, strings.Fields(line)...); err == nil || errors.Is(err, lab.ErrNotUp) {
			t.Errorf("lab %s: %v, want an error about its arguments", line, err)
		}
	}
}

func TestDownWithoutALab(t *testing.T) {
	t.Setenv("ETCD_OPERATOR_LAB", filepath.Join(t.TempDir(), "absent"))
	if out, err := run(t, "down"); err != nil {
		t.Errorf("lab down: %v\n%s", err, out)
	}
}

func TestImageToAFile(t *testing.T) {
	dir := t.TempDir()
	program, output := filepath.Join(dir, "program"), filepath.Join(dir, "image.tar")
	if err := os.WriteFile(program, []byte("binary"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "image", "--name=example.com/a:b", "--file="+program+":/program", "--user=65532",
		"--entrypoint=/program", "--entrypoint=run", "--label=a=b", "--output="+output)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	img, err := image.Load(output)
	if err != nil {
		t.Fatal(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config := file.Config; config.User != "65532" || strings.Join(config.Entrypoint, " ") != "/program run" ||
		!maps.Equal(config.Labels, map[string]string{"a": "b"}) {
		t.Errorf("the configuration is %+v", config)
	}
}

func TestPrintStatus(t *testing.T) {
	status := lab.Status{
		API:        errors.New("connection refused"),
		Components: []lab.Component{{Name: "etcd", PID: 7, Alive: true, LogFile: "/l/etcd.log"}, {Name: "n1-kubelet"}},
		Nodes:      []lab.NodeStatus{{Name: "n1", PartitionedFrom: []string{"n2", "n3"}, SilentTo: []string{"n4"}}},
	}
	var out bytes.Buffer
	if err := printStatus(&out, status); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("the API's failure is not told: %v", err)
	}
	for _, want := range []string{"etcd        7    running", "n1-kubelet  0    dead", "n1    pulled  n2 n3             n4"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the status lacks %q:\n%s", want, out.String())
		}
	}
}
