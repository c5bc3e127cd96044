// Command agent moves backups, in a pod of its own; see the package agent.
package main

import (
	"os"

	"github.com/etcdpilot/etcd-operator/internal/agent"
)

func main() { os.Exit(agent.Main()) }
