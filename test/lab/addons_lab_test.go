//go:build lab

package lab_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

const looker = `
apiVersion: v1
kind: Pod
metadata: {name: looker}
spec:
  terminationGracePeriodSeconds: 0
  nodeName: n1
  containers: [{name: main, image: "busybox:1.36", command: [sleep, "3600"]}]
`

// stores starts all addons, and reaches them from a pod and from this machine. That each can be broken and healed is
// tried without a cluster.
func stores(t *testing.T, running *lab.Lab) {
	kubectl(t, running, looker, "apply", "--filename=-")
	kubectl(t, running, "", "wait", "--for=condition=Ready", "pod/looker", "--timeout=60s")
	for _, name := range []string{lab.MinIO, lab.GCS, lab.Azurite} {
		addon, err := running.Addons().Start(t.Context(), name, testWriter{t})
		if err != nil {
			t.Fatal(err)
		}
		reachStore(t, running, addon)
	}
	healthy(t, running)
	if err := running.Addons().Stop(t.Context(), lab.GCS); err != nil {
		t.Fatal(err)
	}
	healthy(t, running)
	if err := running.Addons().Heal(t.Context(), lab.GCS); err != nil {
		t.Fatal(err)
	}
}

func reachStore(t *testing.T, running *lab.Lab, addon lab.Addon) {
	t.Helper()
	address, err := url.Parse(addon.URL)
	if err != nil {
		t.Fatal(err)
	}
	service, _, _ := strings.Cut(address.Hostname(), ".")
	ip := kubectl(t, running, "", "get", "service", service, "--namespace=storage", "--output=jsonpath={.spec.clusterIP}")
	if out := kubectl(t, running, "", "exec", "looker", "--", "nslookup", address.Hostname()+".cluster.local"); !strings.Contains(out, ip) {
		t.Errorf("a pod does not find %s: %s", address.Hostname(), out)
	}
	// kube-proxy needs a moment to see a new Service.
	eventually(t, func() error {
		out := kubectl(t, running, "", "exec", "looker", "--", "sh", "-c",
			fmt.Sprintf("nc -w 2 %s %s </dev/null 2>&1 && echo reached || true", ip, address.Port()))
		if !strings.Contains(out, "reached") {
			return fmt.Errorf("a pod does not reach %s: %s", addon.Name, out)
		}
		return nil
	})
	client, err := addon.Client()
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, addon.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
}
