package main

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
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
		"plan example --set foo=1":       "--set foo=1: of the spec, the operator logs size, version and paused",
		"plan example --rules -o json":   "--rules is for people",
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
