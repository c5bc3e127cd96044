package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// TestExplain explains what an operator has logged, as the documentation shows it.
func TestExplain(t *testing.T) {
	var out strings.Builder
	if err := run("testdata/shrink.log", nil, &out); err != nil {
		t.Fatal(err)
	}
	golden := "testdata/shrink.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("it is explained as\n%s\nand not as in %s: go test ./hack/replay -update writes that anew", out.String(), golden)
	}
	shown, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(shown), "```\n"+string(want)+"```\n") {
		t.Errorf("CONTRIBUTING.md does not show %s as it is", golden)
	}
}

// TestInput takes the standard input, and says what is wrong with a file.
func TestInput(t *testing.T) {
	text, err := os.ReadFile("testdata/shrink.log")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run("-", strings.NewReader(string(text)+string(text)), &out); err != nil || strings.Count(out.String(), "Decided") != 2 {
		t.Errorf("%v, and explained\n%s", err, out.String())
	}
	if err := run("testdata/missing.log", nil, &out); err == nil {
		t.Error("a file that is not there is no error")
	}
	if err := run("-", strings.NewReader("no log"), &out); err == nil || !strings.Contains(err.Error(), "log-observed") {
		t.Errorf("of what is no log: %v", err)
	}
}
