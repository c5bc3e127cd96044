package prometheus

import (
	"bytes"
	_ "embed"
	"fmt"
	"path/filepath"
	"text/template"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

// What is in the cluster.
const (
	// Namespace has the operator, and the Prometheus that it runs.
	Namespace = "monitoring"
	// Operator is the name of the operator's Deployment, and of its ServiceAccount.
	Operator = "prometheus-operator"
	// Account is the ServiceAccount that Prometheus scrapes with.
	Account = "prometheus"
	// Name of the object of kind Prometheus.
	Name = "lab"
	// Proxy is the path at the API server below which Prometheus answers: its Service and the name of the port.
	Proxy = "/api/v1/namespaces/" + Namespace + "/services/prometheus:web/proxy"
)

// Module is the Go module that has the operator's programs, and the CRDs.
const Module = "github.com/prometheus-operator/prometheus-operator"

// CRDs returns the folder of the CRDs in that of the module.
func CRDs(module string) string { return filepath.Join(module, "example", "prometheus-operator-crd") }

//go:embed manifests/prometheus.yaml
var text string

var manifests = template.Must(template.New("prometheus").Parse(text))

// Manifests returns all Kubernetes objects but the CRDs. The tools are those of Tools.
func Manifests(tools map[string]build.Tool) ([]byte, error) {
	var out bytes.Buffer
	err := manifests.Execute(&out, struct {
		names
		Namespace, Operator, Account, Name string
	}{namesOf(tools), Namespace, Operator, Account, Name})
	if err != nil {
		return nil, fmt.Errorf("render what Prometheus needs: %w", err)
	}
	return out.Bytes(), nil
}
