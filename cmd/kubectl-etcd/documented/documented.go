// Package documented compares what commands print with what docs/kubectl-etcd.md says that they print, and with files that have all of it.
package documented

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files, and what the document shows")

// Golden checks that the file of that name in testdata has just that. With the flag -update of the test it does from then on.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is now\n%s", file, got)
	}
}

// Shows checks that the document shows just that below the command. With the flag -update of the test it does from then on.
func Shows(t testing.TB, command, got string) {
	t.Helper()
	path, text, want := sample(t, command)
	if want == got {
		return
	}
	if *update {
		below := "\n$ " + command + "\n"
		if err := os.WriteFile(path, []byte(strings.Replace(text, below+want, below+got, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s shows of %q\n%s\nand it prints\n%s", path, command, want, got)
}

// varying is what differs from run to run: who leads, addresses, names that the API server makes, sizes, how long something takes, and what
// follows from the lengths of these.
var varying = []*regexp.Regexp{
	regexp.MustCompile(`https://\S+`), regexp.MustCompile(`\b(now|restore)-[a-z0-9]{5}\b`),
	regexp.MustCompile(`\b(example|demo|m)-\d\b`), regexp.MustCompile(`\b\d+(\.\d+)?(Ki|Mi|Gi)\b`), regexp.MustCompile(`\b\d+(\.\d+)?m?s\b`),
	regexp.MustCompile(`\s+`),
}

// Alike checks that the document shows the same words, whatever they are about.
func Alike(t testing.TB, command, got string) {
	t.Helper()
	path, _, want := sample(t, command)
	a, b := got, want
	for _, v := range varying {
		a, b = v.ReplaceAllString(a, " "), v.ReplaceAllString(b, " ")
	}
	if strings.TrimSpace(a) != strings.TrimSpace(b) {
		t.Errorf("%s shows of %q\n%s\nand it prints\n%s", path, command, want, got)
	}
}

// sample is what the document, which is the text at that path, shows below a command.
func sample(t testing.TB, command string) (path, text, shown string) {
	t.Helper()
	path = filepath.Join("..", "..", "docs", "kubectl-etcd.md") // tests run in the folders of their packages
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join("..", path)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(whole), "\n$ "+command+"\n")
	if !found {
		t.Fatalf("%s has no sample of %q", path, command)
	}
	for line := range strings.Lines(after) {
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "$ ") {
			break
		}
		shown += line
	}
	return path, string(whole), shown
}
