package olm

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

// Namespaces of the chart.
const (
	// Namespace is where OLM itself and the catalogs for all namespaces are.
	Namespace = "olm"
	// OperatorNamespace has an OperatorGroup for operators that watch all namespaces.
	OperatorNamespace = "operators"
)

// Module is the Go module that has OLM's programs, and its chart.
const Module = "github.com/operator-framework/operator-lifecycle-manager"

// Chart is OLM's Helm chart: the folder of a module that is on this machine.
type Chart string

// ChartOf returns the chart in the folder of OLM's module.
func ChartOf(module string) Chart { return Chart(filepath.Join(module, "deploy", "chart")) }

// CRDs is the folder of the CRDs, which must be installed before the rest.
func (c Chart) CRDs() string { return filepath.Join(string(c), "crds") }

//go:embed manifests/values.yaml
var valuesText string

var values = template.Must(template.New("values").Parse(valuesText))

// Render returns all Kubernetes objects but the CRDs, for OLM at a version. Helm is the path of the program.
func (c Chart) Render(ctx context.Context, helm, version string) ([]byte, error) {
	var input, stdout, stderr bytes.Buffer
	err := values.Execute(&input, struct{ Namespace, OperatorNamespace, Image string }{
		Namespace, OperatorNamespace, olmImage + ":" + version,
	})
	if err != nil {
		return nil, fmt.Errorf("render the values of OLM's chart: %w", err)
	}
	cmd := exec.CommandContext(ctx, helm, // #nosec G204 -- a pinned program
		"template", "olm", string(c), "--namespace="+Namespace, "--values=-")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &input, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("render OLM's chart: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}
