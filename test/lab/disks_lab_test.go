//go:build lab

package lab_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

const diskWorkload = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: on-disk}
spec: {accessModes: [ReadWriteOnce], storageClassName: disk, resources: {requests: {storage: 64Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: on-disk}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: quay.io/coreos/etcd:v3.6.16
    command: [etcd, --data-dir=/data/data, "--listen-metrics-urls=http://0.0.0.0:2381"]
    readinessProbe: {httpGet: {path: /readyz, port: 2381}, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1}
    volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: on-disk}}]
`

// disks runs an etcd on a disk that gets slow, full, and damaged.
func disks(t *testing.T, running *lab.Lab) {
	const size = 192 << 20
	if err := running.Disks().Create(t.Context(), "n2/a", size); err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, diskWorkload, "apply", "--filename=-")
	diskReady(t, running)
	name, err := running.Disks().Of(t.Context(), "default/on-disk")
	if err != nil || name != "n2/a" {
		t.Fatalf("the claim is on disk %q, %v", name, err)
	}
	t.Run("slow", func(t *testing.T) { slowDisk(t, running, name) })
	t.Run("full", func(t *testing.T) { fullDisk(t, running, name) })
	t.Run("after a power cut", func(t *testing.T) { diskAfterPowerCut(t, running, name) })
	t.Run("damaged log", func(t *testing.T) {
		damaged(t, running, func() error { return running.Faults().CorruptWAL(t.Context(), "default/on-disk") }, "fatal")
	})
	// The member starts anew on the empty disk.
	if err := running.Faults().WipeVolume(t.Context(), "default/on-disk"); err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, "", "delete", "pod", "on-disk")
	kubectl(t, running, diskWorkload, "apply", "--filename=-")
	diskReady(t, running)
	t.Run("damaged database", func(t *testing.T) {
		for key := range 20 {
			if err := put(t, running, fmt.Sprint("key", key)); err != nil {
				t.Fatal(err)
			}
		}
		damaged(t, running, func() error { return running.Faults().CorruptDB(t.Context(), "default/on-disk") }, "panic")
	})
	kubectl(t, running, "", "delete", "pod", "on-disk")
	if err := running.Disks().Remove(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, "", "delete", "pvc", "on-disk")
	kubectl(t, running, "", "wait", "--for=delete", "pv/n2-a", "--timeout=60s")
}

func diskReady(t *testing.T, running *lab.Lab) {
	t.Helper()
	kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/on-disk", "--timeout=60s")
}

// put writes 100 kB, and so to the disk.
func put(t *testing.T, running *lab.Lab, key string) error {
	t.Helper()
	const size = 100_000
	cmd := exec.CommandContext(t.Context(), running.Kubectl(), "--kubeconfig="+running.Kubeconfig(),
		"exec", "--stdin", "on-disk", "--", "etcdctl", "put", key)
	cmd.Stdin = bytes.NewReader(bytes.Repeat([]byte("x"), size))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func slowDisk(t *testing.T, running *lab.Lab, disk string) {
	const flush = 300 * time.Millisecond
	timed := func() time.Duration {
		began := time.Now()
		if err := put(t, running, "key"); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	if err := running.Disks().Slow(t.Context(), disk, flush); err != nil {
		t.Fatal(err)
	}
	slow := timed()
	if err := running.Disks().Fast(t.Context(), disk); err != nil {
		t.Fatal(err)
	}
	if fast := timed(); slow < flush || fast > flush {
		t.Errorf("a write took %v, and on the fast disk %v", slow, fast)
	}
}

func fullDisk(t *testing.T, running *lab.Lab, disk string) {
	if err := running.Disks().Fill(t.Context(), disk); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if put(t, running, "more") == nil {
			return errors.New("there is room on the full disk")
		}
		return nil
	})
	eventually(t, func() error {
		logs := kubectl(t, running, "", "logs", "on-disk") + previousLogs(t, running)
		if !strings.Contains(logs, "no space left on device") {
			return errors.New("etcd says nothing of the full disk")
		}
		return nil
	})
	if err := running.Disks().Free(t.Context(), disk); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { return put(t, running, "more") })
}

// diskAfterPowerCut finds the disk in its place, and healed, on a node that was off.
func diskAfterPowerCut(t *testing.T, running *lab.Lab, disk string) {
	if err := running.Disks().Slow(t.Context(), disk, time.Hour); err != nil {
		t.Fatal(err)
	}
	nodeFault(t, running, running.Faults().KillNode)
	diskReady(t, running)
	if err := put(t, running, "key"); err != nil {
		t.Errorf("after the power cut: %v", err)
	}
}

// damaged expects that the member cannot start again, and says so with a word.
func damaged(t *testing.T, running *lab.Lab, damage func() error, word string) {
	if err := damage(); err != nil {
		t.Fatal(err)
	}
	// It may have seen the damage by itself, and be gone.
	_ = running.Faults().KillContainer(t.Context(), "default/on-disk/main")
	eventually(t, func() error {
		if count := kubectl(t, running, "", "get", "pod", "on-disk",
			"--output=jsonpath={.status.containerStatuses[0].restartCount}"); count < "2" {
			return fmt.Errorf("it was restarted %s times", count)
		}
		if logs := previousLogs(t, running); !strings.Contains(logs, word) {
			return fmt.Errorf("it does not say %q: %s", word, logs)
		}
		return nil
	})
}

func previousLogs(t *testing.T, running *lab.Lab) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), running.Kubectl(), "--kubeconfig="+running.Kubeconfig(),
		"logs", "--previous", "on-disk")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "" // There is no previous container yet.
	}
	return string(out)
}
