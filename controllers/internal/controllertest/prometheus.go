package controllertest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// InstallPrometheusKinds makes the CRDs of Prometheus Operator's PodMonitors and PrometheusRules, as its own module has them, which is fetched
// if it is not on this machine.
func InstallPrometheusKinds(t *testing.T, admin client.Client) {
	t.Helper()
	fetch := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/prometheus-operator/prometheus-operator")
	fetch.Dir, fetch.Env = filepath.Join(testenv.Root(), "hack", "tools", "prometheus-operator"), append(os.Environ(), "GOWORK=off")
	said, err := fetch.Output()
	if err != nil {
		t.Fatalf("fetch Prometheus Operator: %v\n%s", err, said)
	}
	var module struct{ Dir string }
	Must(t, json.Unmarshal(said, &module))
	for _, plural := range []string{"podmonitors", "prometheusrules"} {
		text, err := os.ReadFile(filepath.Join(module.Dir, "example", "prometheus-operator-crd", "monitoring.coreos.com_"+plural+".yaml"))
		Must(t, err)
		crd := &unstructured.Unstructured{}
		Must(t, yaml.Unmarshal(text, &crd.Object))
		Must(t, admin.Create(t.Context(), crd))
	}
}
