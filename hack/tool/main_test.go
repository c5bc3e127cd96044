package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestArgumentsAreChecked(t *testing.T) {
	for line, want := range map[string]string{
		"": "usage: tool NAME", "kustomize opm": "usage: tool NAME", "no-such-program": "the tools are",
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(line), &out, &out)
		if err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("tool %s: %v, %q, want an error with %q", line, err, out.String(), want)
		}
	}
}
