package pictures

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

var update = flag.Bool("update", false, "draw the pictures of terminals anew")

const docs = "../../../docs"

// shown are the samples of documents that pictures show, by the command that each begins with.
var shown = map[string]struct{ document, command string }{
	"kubectl-etcd-status.png": {"kubectl-etcd.md", "kubectl etcd status demo"},
	"kubectl-get-etcd.png":    {"operations.md", "kubectl get etcd -o wide"},
}

// sample is a command of a document, with what it prints.
func sample(t *testing.T, document, command string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, document))
	if err != nil {
		t.Fatal(err)
	}
	printed, found := documents.Printed(string(text), command)
	if !found {
		t.Fatalf("%s has no sample of %q", document, command)
	}
	return "$ " + command + "\n" + printed
}

// TestTerminals wants each picture of a terminal to show what its document does. With -update it does from then on.
func TestTerminals(t *testing.T) {
	for name, of := range shown {
		drawn, err := Terminal(sample(t, of.document, of.command))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(docs, "images", name)
		if *update {
			if err := os.WriteFile(file, drawn, 0o644); err != nil { // #nosec G306 -- it is published
				t.Fatal(err)
			}
		}
		there, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !same(decoded(t, there), decoded(t, drawn)) {
			t.Errorf("docs/images/%s is not what docs/%s shows of %q: go test -C test ./e2e/pictures -run TestTerminals -update", name, of.document, of.command)
		}
	}
}

// TestTerminal wants a picture to be as wide as the longest line, and to tell what is typed from what is printed.
func TestTerminal(t *testing.T) {
	of := func(text string) image.Image {
		drawn, err := Terminal(text)
		if err != nil {
			t.Fatal(err)
		}
		return decoded(t, drawn)
	}
	short, long := of("$ a\nprinted"), of("$ a\nprinted, and longer\n")
	if short.Bounds().Dx() >= long.Bounds().Dx() || short.Bounds().Dy() != long.Bounds().Dy() {
		t.Errorf("of a longer line it is %v, of a shorter one %v", long.Bounds(), short.Bounds())
	}
	if same(short, of("$ b\nprinted")) || same(of("$ ab"), of("# ab")) || same(short, of("$ a\n       ")) {
		t.Error("what is drawn does not follow from the text")
	}
}

func decoded(t *testing.T, text []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// same compares the points, since encoders differ.
func same(a, b image.Image) bool {
	equal := a.Bounds() == b.Bounds()
	if equal {
		each(a.Bounds(), func(x, y int) { equal = equal && at(a, x, y) == at(b, x, y) })
	}
	return equal
}
