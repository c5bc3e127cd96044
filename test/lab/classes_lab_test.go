//go:build lab

package lab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

const classWorkload = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: CLASS}
spec: {accessModes: [ReadWriteOnce], storageClassName: CLASS, resources: {requests: {storage: 1Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: CLASS}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: busybox, command: [sleep, "1000"], volumeMounts: [{name: data, mountPath: /data}]}
  volumes: [{name: data, persistentVolumeClaim: {claimName: CLASS}}]
`

// withClass runs a pod with a volume of a class, and returns how long it took to start, and what removes both.
func withClass(t *testing.T, running *lab.Lab, class string) (took time.Duration, remove func()) {
	t.Helper()
	manifest := strings.ReplaceAll(classWorkload, "CLASS", class)
	began := time.Now()
	kubectl(t, running, manifest, "apply", "--filename=-")
	kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/"+class, "--timeout=60s")
	return time.Since(began), func() { kubectl(t, running, manifest, "delete", "--filename=-") }
}

// slowVolume waits for a volume.
func slowVolume(t *testing.T, running *lab.Lab) {
	const delay = 10 * time.Second
	if err := running.Faults().DelayVolumes(t.Context(), delay); err != nil {
		t.Fatal(err)
	}
	took, remove := withClass(t, running, lab.SlowClass)
	defer remove()
	if took < delay || took > 3*delay {
		t.Errorf("it took %v", took)
	}
	if err := running.Faults().DelayVolumes(t.Context(), lab.SlowDelay); err != nil {
		t.Fatal(err)
	}
}

// growingVolume asks for more.
func growingVolume(t *testing.T, running *lab.Lab) {
	_, remove := withClass(t, running, lab.GrowingClass)
	defer remove()
	kubectl(t, running, "", "patch", "pvc", lab.GrowingClass,
		`--patch={"spec":{"resources":{"requests":{"storage":"3Mi"}}}}`)
	eventually(t, func() error {
		volume := kubectl(t, running, "", "get", "pvc", lab.GrowingClass,
			"--output=jsonpath={.spec.volumeName} {.status.capacity.storage}")
		name, claimed, _ := strings.Cut(volume, " ")
		capacity := kubectl(t, running, "", "get", "pv", name, "--output=jsonpath={.spec.capacity.storage}")
		if claimed != "3Mi" || capacity != "3Mi" {
			return fmt.Errorf("the claim has %s, the volume %s", claimed, capacity)
		}
		return nil
	})
}
