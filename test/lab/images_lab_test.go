//go:build lab

package lab_test

import (
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

const imageWorkload = `
apiVersion: v1
kind: Pod
metadata: {name: image}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: "example.com/own/busybox:1", command: [sleep, "1000"]}]
`

// images runs a pod of an image that is gone for a while.
func images(t *testing.T, running *lab.Lab) {
	const reference = "example.com/own/busybox:1"
	spec := image.Spec{Files: map[string]image.File{"/bin/sleep": {Source: "/bin/busybox"}}}
	if err := running.LoadSpec(t.Context(), reference, spec); err != nil {
		t.Fatal(err)
	}
	start := func() { kubectl(t, running, imageWorkload, "apply", "--filename=-") }
	ready := func() { kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/image", "--timeout=60s") }
	start()
	ready()
	if err := running.Faults().BreakImage(t.Context(), reference); err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, "", "delete", "pod", "image")
	start()
	ready() // The node has it.
	kubectl(t, running, "", "delete", "pod", "image")
	if err := running.Faults().RemoveImage(t.Context(), "n1", reference); err != nil {
		t.Fatal(err)
	}
	start()
	kubectl(t, running, "", "wait", "pod/image", "--timeout=60s",
		"--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff")
	if err := running.Faults().MendImage(t.Context(), reference); err != nil {
		t.Fatal(err)
	}
	ready()
	kubectl(t, running, "", "delete", "pod", "image")
	if err := running.Faults().RemoveImage(t.Context(), "n1", "example.com/absent:1"); err != nil {
		t.Errorf("an image that the node has not: %v", err)
	}
	err := running.Faults().RemoveImage(t.Context(), "n1", "no name")
	if err == nil || !strings.Contains(err.Error(), "no name") {
		t.Errorf("a name that is none: %v", err)
	}
}
