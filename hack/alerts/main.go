// Program alerts writes config/prometheus/base/rules.yaml to its standard output: the alerts about the operator itself and about backups, for
// Prometheus Operator. With the name of a namespace it writes those about its clusters, which the operator makes itself, for Prometheus alone.
package main

import (
	"log"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/alerts"
)

const head = "# Written by make generate from internal/alerts.\n"

// rule is Prometheus Operator's PrometheusRule.
type rule struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       struct {
		Groups []alerts.Group `json:"groups"`
	} `json:"spec"`
}

type metadata struct {
	Labels map[string]string `json:"labels"`
	Name   string            `json:"name"`
}

func main() {
	if len(os.Args) > 1 {
		write(map[string]any{"groups": alerts.ForClusters(os.Args[1], alerts.Timing{})}, "")
		return
	}
	object := rule{APIVersion: "monitoring.coreos.com/v1", Kind: "PrometheusRule", Metadata: metadata{
		Labels: map[string]string{
			"app.kubernetes.io/managed-by": "kustomize", "app.kubernetes.io/name": "etcd-operator", "control-plane": "controller-manager",
		},
		// config/default puts the prefix and the namespace in.
		Name: "controller-manager-alerts",
	}}
	object.Spec.Groups = alerts.ForOperator(alerts.Timing{})
	write(object, head)
}

// write writes an object after some text.
func write(object any, head string) {
	text, err := yaml.Marshal(object)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.WriteString(head + string(text)); err != nil {
		log.Fatal(err)
	}
}
