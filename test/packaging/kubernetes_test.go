package packaging

import (
	"regexp"
	"strings"
	"testing"
)

// oldest is the version of Kubernetes that make test-kubernetes runs the API server of.
var oldest = regexp.MustCompile(`(?m)^\tk8s\.io/kubernetes v(1\.\d+)\.`)

// TestOldestKubernetes wants the oldest Kubernetes that can be tested to be the oldest that anything claims to run on.
func TestOldestKubernetes(t *testing.T) {
	found := oldest.FindStringSubmatch(string(read(t, "hack/tools/kubernetes-oldest/go.mod")))
	if found == nil {
		t.Fatal("hack/tools/kubernetes-oldest pins no Kubernetes")
	}
	minor := found[1]
	for file, claims := range map[string][]string{
		"config/chart/Chart.yaml": {`kubeVersion: ">=` + minor + `.0-0"`},
		"config/manifests/bases/etcd-operator.clusterserviceversion.yaml": {"minKubeVersion: " + minor + ".0\n", "Kubernetes " + minor + " or later"},
		"README.md":       {"Kubernetes " + minor + " or later"},
		"docs/install.md": {"needs Kubernetes " + minor + " or later", "| Kubernetes | " + minor + " or later"},
	} {
		text := string(read(t, file))
		for _, claim := range claims {
			if !strings.Contains(text, claim) {
				t.Errorf("%s does not say %q, and hack/tools/kubernetes-oldest pins %s", file, claim, minor)
			}
		}
	}
}
