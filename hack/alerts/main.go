// Program alerts writes config/prometheus/base/rules.yaml to its standard output: the alerts about the
// operator itself and about backups, for Prometheus Operator. The operator makes those about clusters.
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
	object := rule{APIVersion: "monitoring.coreos.com/v1", Kind: "PrometheusRule", Metadata: metadata{
		Labels: map[string]string{
			"app.kubernetes.io/managed-by": "kustomize", "app.kubernetes.io/name": "etcd-operator", "control-plane": "controller-manager",
		},
		// config/default puts the prefix and the namespace in.
		Name: "controller-manager-alerts",
	}}
	object.Spec.Groups = alerts.ForOperator(alerts.Timing{})
	text, err := yaml.Marshal(object)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.WriteString(head + string(text)); err != nil {
		log.Fatal(err)
	}
}
