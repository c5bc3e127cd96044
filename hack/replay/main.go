// Program replay makes the decisions again that an operator has logged with what it observed, and explains them: what was made of
// the observation, which rule has answered, who was asked before, and which guard has put its own answer in the rule's place.
//
//	go run ./hack/replay FILE…
//
// Each FILE is the operator's log, or a part of it, or "-" for the standard input. The rules are those of this source: of another
// version than the operator's they may decide otherwise, and say so.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/etcdpilot/etcd-operator/internal/explain"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
)

// width is how many columns a line has at most.
const width = 100

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/replay FILE…\nFILE is the log of an operator that was asked for what it observes "+
			"(docs/operations.md), or - for the standard input")
		os.Exit(2)
	}
	for _, file := range os.Args[1:] {
		if err := run(file, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			os.Exit(1)
		}
	}
}

// run explains all that is in a file.
func run(file string, stdin io.Reader, to io.Writer) error {
	text, err := read(file, stdin)
	if err != nil {
		return err
	}
	passes, err := replay.Read(text)
	if err != nil {
		return err
	}
	for i, p := range passes {
		if i > 0 {
			_, _ = fmt.Fprintln(to)
		}
		text, err := explain.Pass(p, width)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(to, text); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

func read(file string, stdin io.Reader) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(file)
}
