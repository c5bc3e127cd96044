//go:build lab

package lab_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/cgroup"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/node"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

func healthy(t *testing.T, running *lab.Lab) {
	t.Helper()
	status, err := running.Status(t.Context())
	if err != nil || !status.Healthy() {
		t.Errorf("the lab is not whole: %+v, %v", status, err)
	}
}

func pids(t *testing.T, running *lab.Lab) []int {
	t.Helper()
	status, err := running.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, 0, len(status.Components))
	for _, component := range status.Components {
		all = append(all, component.PID)
	}
	return all
}

func kubectl(t *testing.T, running *lab.Lab, input string, args ...string) string {
	t.Helper()
	args = append([]string{"--kubeconfig=" + running.Kubeconfig()}, args...)
	cmd := exec.CommandContext(t.Context(), running.Kubectl(), args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args[1:], " "), err, out)
	}
	return string(out)
}

func eventually(t *testing.T, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := process.Poll(ctx, func(context.Context) error { return check() }); err != nil {
		t.Fatal(err)
	}
}

// traces lists all that a lab could leave on this machine.
func traces(t *testing.T, dir string) []string {
	t.Helper()
	found, err := network.Remains(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	cgroups, err := cgroup.Detect()
	if err != nil {
		t.Fatal(err)
	}
	if cgroups.Exists(cgroup.Root) {
		found = append(found, "cgroup "+cgroup.Root)
	}
	for _, folder := range append(node.HostFolders(),
		network.NamespaceDir, "/run/etcd-operator-lab", "/opt/containerd", "/run/nri", "/usr/libexec/kubernetes") {
		if _, err := os.Stat(folder); err == nil {
			found = append(found, "folder "+folder)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) {
			found = append(found, "mount "+line)
		}
	}
	devices, err := exec.CommandContext(context.WithoutCancel(t.Context()), "losetup", "--all").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(devices)) {
		if strings.Contains(line, dir) {
			found = append(found, "loop device "+line)
		}
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		// A process may end while the list is read.
		if command, err := os.ReadFile(file); err == nil && bytes.Contains(command, []byte(dir)) {
			found = append(found, "process "+string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// testWriter writes progress to the test's log.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(text []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(text)))
	return len(text), nil
}
