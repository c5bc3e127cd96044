//go:build lab

package lab_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// TestUpDown starts a lab of its own, breaks and heals it, and takes it down to the last trace. It needs root, and a
// machine without another lab.
func TestUpDown(t *testing.T) {
	if owner, err := state.Owner(); err != nil || owner != "" {
		t.Skipf("this machine's lab is in %s (%v)", owner, err)
	}
	dir := t.TempDir()
	t.Setenv(state.Variable, dir)
	before := traces(t, dir)
	t.Cleanup(func() {
		if err := lab.Down(context.WithoutCancel(t.Context()), testWriter{t}); err != nil {
			t.Error(err)
		}
		if after := traces(t, dir); !slices.Equal(before, after) {
			t.Errorf("the lab left something:\n%s\nbefore it:\n%s",
				strings.Join(after, "\n"), strings.Join(before, "\n"))
		}
	})

	const nodes = 2
	running, err := lab.Up(t.Context(), lab.Options{Nodes: nodes, Out: testWriter{t}})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("up again does nothing", func(t *testing.T) { upAgain(t, running, nodes) })
	t.Run("another lab is refused", func(t *testing.T) { anotherLab(t) })
	t.Run("volume", func(t *testing.T) { volume(t, running) })
	t.Run("container", func(t *testing.T) { container(t, running) })
	for name, breaks := range map[string]func(context.Context, string) error{
		"killed": running.Faults().KillNode, "stopped": running.Faults().StopNode, "isolated": running.Faults().IsolateNode,
	} {
		t.Run("node "+name, func(t *testing.T) { nodeFault(t, running, breaks) })
	}
	t.Run("partition", func(t *testing.T) { partition(t, running) })
	t.Run("one way", func(t *testing.T) { oneWay(t, running) })
	t.Run("clock", func(t *testing.T) { jumpClock(t, running) })
	t.Run("slow volume", func(t *testing.T) { slowVolume(t, running) })
	t.Run("growing volume", func(t *testing.T) { growingVolume(t, running) })
	t.Run("slow link", func(t *testing.T) { slowLink(t, running) })
	t.Run("disks", func(t *testing.T) { disks(t, running) })
	t.Run("API server", func(t *testing.T) { apiServer(t, running) })
	t.Run("images", func(t *testing.T) { images(t, running) })
	t.Run("addons", func(t *testing.T) { stores(t, running) })
	t.Run("up starts what is missing", func(t *testing.T) { repair(t, running, nodes) })
}

// TestDownOfAHalfStartedLab takes down what a start that was cut off has left.
func TestDownOfAHalfStartedLab(t *testing.T) {
	if owner, err := state.Owner(); err != nil || owner != "" {
		t.Skipf("this machine's lab is in %s (%v)", owner, err)
	}
	dir := t.TempDir()
	t.Setenv(state.Variable, dir)
	before := traces(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	started := make(chan error, 1)
	go func() {
		_, err := lab.Up(ctx, lab.Options{Nodes: 1})
		started <- err
	}()
	record := filepath.Join(dir, "run", "n1-containerd.json")
	err := process.Poll(t.Context(), func(context.Context) error {
		_, err := os.Stat(record)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-started; err == nil {
		t.Error("a start that was cut off reports success")
	}
	if _, err := lab.Attach(); !errors.Is(err, lab.ErrNotUp) {
		t.Errorf("a half-started lab counts as up: %v", err)
	}
	for range 2 { // Taking down what is down does nothing.
		if err := lab.Down(t.Context(), testWriter{t}); err != nil {
			t.Fatal(err)
		}
		if after := traces(t, dir); !slices.Equal(before, after) {
			t.Errorf("the lab left something:\n%s", strings.Join(after, "\n"))
		}
	}
}

func upAgain(t *testing.T, running *lab.Lab, nodes int) {
	before := pids(t, running)
	began := time.Now()
	if _, err := lab.Up(t.Context(), lab.Options{Nodes: nodes}); err != nil {
		t.Fatal(err)
	}
	const atOnce = 2 * time.Second
	if took := time.Since(began); took > atOnce {
		t.Errorf("it took %v", took)
	}
	if after := pids(t, running); !slices.Equal(before, after) {
		t.Errorf("processes changed from %v to %v", before, after)
	}
	if _, err := lab.Up(t.Context(), lab.Options{Nodes: nodes + 1}); err == nil {
		t.Error("another number of nodes was accepted and ignored")
	}
}

// anotherLab must be refused, because its addresses are the same, and so must its end, which would end this one.
func anotherLab(t *testing.T) {
	own := os.Getenv(state.Variable)
	t.Setenv(state.Variable, t.TempDir())
	if _, err := lab.Up(t.Context(), lab.Options{Nodes: 1}); err == nil || !strings.Contains(err.Error(), own) {
		t.Errorf("Up of a second lab: %v", err)
	}
	if err := lab.Down(t.Context(), nil); err == nil || !strings.Contains(err.Error(), own) {
		t.Errorf("Down of a second lab: %v", err)
	}
}

const workload = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec:
  terminationGracePeriodSeconds: 0
  nodeName: n2
  containers:
  - name: main
    image: quay.io/coreos/etcd:v3.6.16
    imagePullPolicy: Always
    command: [etcd, --data-dir=/data/etcd, "--listen-metrics-urls=http://0.0.0.0:2381"]
    readinessProbe: {httpGet: {path: /readyz, port: 2381}, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1}
    volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: claim}}]
`

// volume runs an etcd on a volume, and wipes it.
func volume(t *testing.T, running *lab.Lab) {
	manifest := strings.Replace(workload, "  nodeName: n2\n", "  nodeSelector: {kubernetes.io/hostname: n2}\n", 1)
	kubectl(t, running, manifest, "apply", "--filename=-")
	kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/pod", "--timeout=60s")
	pattern := filepath.Join(os.Getenv(state.Variable), "nodes", "n2", "volumes", "*", "etcd", "member")
	if found, err := filepath.Glob(pattern); err != nil || len(found) != 1 {
		t.Fatalf("the volume is not below its node: %v, %v", found, err)
	}
	if err := running.Faults().WipeVolume(t.Context(), "default/claim"); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(pattern); err != nil || len(found) != 0 {
		t.Errorf("the volume still holds %v, %v", found, err)
	}
}

// container kills and freezes the etcd of the pod.
func container(t *testing.T, running *lab.Lab) {
	const name = "default/pod/main"
	if err := running.Faults().KillContainer(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if count := kubectl(t, running, "", "get", "pod", "pod",
			"--output=jsonpath={.status.containerStatuses[0].restartCount}"); count != "1" {
			return fmt.Errorf("it was restarted %s times", count)
		}
		return nil
	})
	kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/pod", "--timeout=60s")
	if err := running.Faults().FreezeContainer(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, "", "wait", "--for=condition=Ready=False", "pod/pod", "--timeout=60s")
	if err := running.Faults().ThawContainer(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/pod", "--timeout=60s")
}

// nodeFault breaks a node until Kubernetes notices, and heals it until its pod is ready again.
func nodeFault(t *testing.T, running *lab.Lab, breaks func(context.Context, string) error) {
	if err := breaks(t.Context(), "n2"); err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, "", "wait", "--for=condition=Ready=Unknown", "node/n2", "--timeout=60s")
	if err := running.Faults().HealNode(t.Context(), "n2"); err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, "", "wait", "--for=condition=Ready", "node/n2", "--timeout=60s")
	kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/pod", "--timeout=60s")
	healthy(t, running)
}

// partition cuts two nodes off from one another, but neither from the host.
func partition(t *testing.T, running *lab.Lab) {
	ip := kubectl(t, running, "", "get", "pod", "pod", "--output=jsonpath={.status.podIP}")
	reach := func() error {
		cmd := exec.CommandContext(t.Context(), "nsenter", "--net="+network.NamespaceFile("n1"),
			"timeout", "1", "bash", "-c", "exec 3<>/dev/tcp/"+ip+"/2381")
		return cmd.Run()
	}
	if err := reach(); err != nil {
		t.Fatalf("one node does not reach the pods of the other: %v", err)
	}
	if err := running.Faults().PartitionNodes(t.Context(), "n1", "n2"); err != nil {
		t.Fatal(err)
	}
	if err := reach(); err == nil {
		t.Error("a node reaches the pods of the node that it is cut off from")
	}
	kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/pod", "--timeout=60s")
	if err := running.Faults().HealNode(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	if err := reach(); err != nil {
		t.Errorf("after the partition: %v", err)
	}
	healthy(t, running)
}

// repair kills some of the lab's processes behind its back, and starts it again.
func repair(t *testing.T, running *lab.Lab, nodes int) {
	records, err := process.ReadAll(filepath.Join(os.Getenv(state.Variable), "run"))
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		if slices.Contains([]string{"kube-apiserver", "registry", "n1-kubelet", "minio"}, record.Name) {
			if err := process.Kill(t.Context(), record); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := lab.Up(t.Context(), lab.Options{Nodes: nodes, Out: testWriter{t}}); err != nil {
		t.Fatal(err)
	}
	healthy(t, running)
}
