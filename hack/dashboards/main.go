// Program dashboards writes the dashboards for Grafana into a folder, each into a file of its own.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/etcdpilot/etcd-operator/internal/dashboards"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: dashboards FOLDER")
	}
	if err := write(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func write(folder string) error {
	for _, d := range dashboards.All() {
		text, err := d.JSON()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, d.Name+".json"), text, 0o644); err != nil { // #nosec G306 -- it is no secret
			return fmt.Errorf("write the dashboard %s: %w", d.Name, err)
		}
	}
	return nil
}
