// Program metrics writes docs/metrics.md to its standard output: what each metric of the operator means, from what is exported.
package main

import (
	"log"
	"os"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

func main() {
	if _, err := os.Stdout.WriteString(page(metrics.Families())); err != nil {
		log.Fatal(err)
	}
}
