package main

import (
	"io"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
)

// checkOutput refuses a format before anything is asked.
func checkOutput(format string) error { return output.Check(format) }

// marshal writes a value for programs.
func marshal(out io.Writer, format string, value any) error {
	return output.Marshal(out, format, value)
}
