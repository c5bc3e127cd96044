package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// TestRefusedAtOnce says what is wrong with a command line before anything is read: there is no kubeconfig here.
func TestRefusedAtOnce(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("KUBECONFIG", nowhere)
	for line, want := range map[string]string{
		"backup":                         "say backup now NAME, or backup list NAME",
		"backup example":                 "say backup now NAME, or backup list NAME",
		"backup nwo example":             "say backup now NAME, or backup list NAME",
		"backup list --url foo":          "--url foo has no scheme: it must be s3://…, gs://…, azblob://… or file:///…",
		"defrag example example-0 --all": "give the name of a member or --all, not both",
		"defrag example":                 "say which member: its name, or --all",
		"diagnose example -o json":       "-o is the file to write",
		"diagnose example -o yaml":       "-o is the file to write",
		"plan example --set foo=1":       "--set foo=1: of the spec, the operator logs size, version, paused and hibernate",
		"plan example --rules -o json":   "--rules is for people",
		"plan replay":                    "plan replay takes a file with a log",
		"plan replay /none":              "open /none: no such file",
		"plan replay go.mod":             "no such file",
		"plan replay command.go":         "command.go: no line of it has the field",
		"status":                         "status takes the name of an EtcdCluster, and was given 0 arguments",
		"status a b":                     "was given 2 arguments",
		"status example -o table":        "-o table is not known: use json or yaml, or leave it out",
		"doctor example -o wide":         "-o wide is not known",
		"plan example --set size=0":      "a size is a number from 1 to 9",
		"plan example --set version=2.3": "the operator would refuse it",
		"promote example":                "promote takes the name of an EtcdCluster and that of a member, and was given 1 arguments",
		"move-leader":                    "was given 0 arguments",
		"restore example":                "say with --from which EtcdBackup or snapshot to restore",
		"backup list":                    "say of which EtcdCluster, or with --url in which bucket",
		"backup list --url s3://":        "names no bucket",
		"backup list -o table x":         "-o table is not known",
		"ctl example":                    "give the name of an EtcdCluster, and behind -- what etcdctl is to do",
		"status example --no-such":       "unknown flag: --no-such",
		"statsu example":                 "unknown command",
		"defrag example --all --timeout": "flag needs an argument: --timeout",
		"autopilot":                      "takes the name of an EtcdCluster",
		"autopilot example -o text":      "-o text is not known: use json or yaml",
		"doctor example --secret s":      "no kubeconfig is found",
		"status example":                 "no kubeconfig is found (KUBECONFIG is " + nowhere + "): set it, or give --kubeconfig",
	} {
		var out strings.Builder
		root := newCommand(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out})
		root.SetArgs(strings.Fields(line))
		if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%s: %v\n%s", line, err, out.String())
		}
	}
}

// TestHelp fits a terminal, but for what is to be copied.
func TestHelp(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		var out strings.Builder
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(line) - 1; n > terminal.Columns && !strings.Contains(line, ".db.zst") {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, below := range cmd.Commands() {
			look(below)
		}
	}
	look(newCommand(genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}))
}
