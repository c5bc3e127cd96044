package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestArgumentsAreChecked(t *testing.T) {
	for line, want := range map[string]string{
		"": "usage: tool", "kustomize opm": "usage: tool", "--platform": "usage: tool", "no-such-program": "the tools are",
		"--platform linux opm": "want OS/ARCHITECTURE", "--platform plan9/386 kubernetes": "for this machine only",
		"--platform plan9/386 azurite": "for this machine only",
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(line), &out, &out)
		if err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("tool %s: %v, %q, want an error with %q", line, err, out.String(), want)
		}
	}
}
