// Package output is how the commands that act speak: to a person in lines of text, to programs in JSON or YAML.
package output

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/wrap"
)

// Check refuses a format before anything is asked.
func Check(format string) error {
	switch format {
	case "", "json", "yaml":
		return nil
	default:
		return fmt.Errorf("-o %s is not known: use json or yaml, or leave it out", format)
	}
}

// Marshal writes a value for programs.
func Marshal(out io.Writer, format string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil && format == "yaml" {
		text, err = yaml.JSONToYAML(text)
	} else {
		text = append(text, '\n')
	}
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// Report is what a command has found. Programs read its fields.
type Report interface {
	// Write writes it for a person.
	Write(out io.Writer, coloured bool) error
}

// Tell writes what was found in that format, or for a person if there is none.
func Tell(streams genericiooptions.IOStreams, format string, found Report) error {
	if format != "" {
		return Marshal(streams.Out, format, found)
	}
	return found.Write(streams.Out, Coloured(streams))
}

// Coloured reports whether a person looks at the output, who does not mind colours (https://no-color.org).
func Coloured(streams genericiooptions.IOStreams) bool {
	return isTerminal(streams.Out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Say writes prose, broken at the width of a terminal; what a terminal would obey is taken out.
func Say(out io.Writer, format string, args ...any) {
	_, _ = io.WriteString(out, Wrap(terminal.Clean(fmt.Sprintf(format, args...)))+"\n") // whoever has gone reads nothing
}

// Warn does so with a mark in front.
func Warn(out io.Writer, format string, args ...any) { Say(out, "! "+format, args...) }

// DryRun is what is said instead of doing it.
func DryRun(out io.Writer) { Say(out, "Nothing was changed: this is a dry run.") }

// Wrap breaks a text between words into lines of 80 columns. A word that is longer stays whole, to be copied.
func Wrap(text string) string { return strings.Join(wrap.Words(text, terminal.Columns), "\n") }

// Confirm has a person type the name of what is to be changed, with its namespace: clusters of other places may have the same one. Whoever is no person has to say --yes.
func Confirm(streams genericiooptions.IOStreams, name string) error {
	if !isTerminal(streams.In) {
		return errors.New("nobody can be asked, for the input is no terminal: give --yes if this is meant")
	}
	return ask(streams.In, streams.ErrOut, name)
}

func ask(in io.Reader, out io.Writer, name string) error {
	_, _ = fmt.Fprintf(out, "Type %s to go on: ", name)
	typed, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(typed) != name {
		return fmt.Errorf("that is not %q: nothing was changed", name)
	}
	return nil
}
