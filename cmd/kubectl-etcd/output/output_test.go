package output

import (
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// TestWrap breaks between words, and keeps what is to be copied.
func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 100)
	for text, want := range map[string]string{
		"":                 "",
		"a  b\nc":          "a b c",
		long + " y":        long + "\ny",
		"y " + long + " z": "y\n" + long + "\nz",
	} {
		if got := Wrap(text); got != want {
			t.Errorf("%q is broken into %q", text, got)
		}
	}
	for line := range strings.Lines(Wrap(strings.Repeat("größe ", 50))) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > terminal.Columns {
			t.Errorf("a line has %d columns", n)
		}
	}
}

// TestSay takes out what a terminal would obey.
func TestSay(t *testing.T) {
	var out strings.Builder
	Warn(&out, "it is %s", "bad\x1b[31m\r\nreally")
	if out.String() != "! it is bad [31m really\n" {
		t.Errorf("it says %q", out.String())
	}
}

// TestConfirm takes the name of the cluster and nothing else, and asks nobody who is no person.
func TestConfirm(t *testing.T) {
	for typed, good := range map[string]bool{"demo\n": true, "demo\r\n": true, "demo": true, "": false, "y\n": false, "Demo\n": false, "demo2\n": false} {
		var out strings.Builder
		if err := ask(strings.NewReader(typed), &out, "demo"); (err == nil) != good {
			t.Errorf("%q: %v", typed, err)
		}
	}
	if err := Confirm(genericiooptions.IOStreams{In: strings.NewReader("demo\n")}, "demo"); err == nil || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("a pipe confirms: %v", err)
	}
}

// TestCheck knows two formats.
func TestCheck(t *testing.T) {
	for format, good := range map[string]bool{"": true, "json": true, "yaml": true, "table": false} {
		if err := Check(format); (err == nil) != good {
			t.Errorf("%q: %v", format, err)
		}
	}
}
