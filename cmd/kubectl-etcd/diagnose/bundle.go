// Package diagnose packs what is known of a cluster for somebody else to look at, without what may be secret. It asks nobody.
package diagnose

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Bundle gathers what is to be packed. The zero value is empty.
type Bundle struct {
	// Say is told of each file, and of what could not be had; nil for nobody.
	Say     func(string)
	files   []file
	missing []string
	secrets map[string]bool
}

// file is a text or, if it has one, an object.
type file struct {
	name string
	text string
	tree any
}

// packed is what is packed of it.
func (f file) packed(s *scrubber) (string, error) {
	if f.tree == nil {
		return s.text(f.text), nil
	}
	text, err := yaml.Marshal(s.tree(f.tree))
	return string(text), err
}

// Object adds an object, or a list of them, as YAML.
func (b *Bundle) Object(name string, object any) {
	if b.secrets == nil {
		b.secrets = map[string]bool{}
	}
	tree, err := treeOf(object, b.secrets)
	if err != nil {
		b.Missing(name, err)
		return
	}
	b.add(file{name: name, tree: tree})
}

// Text adds a text.
func (b *Bundle) Text(name, text string) {
	b.add(file{name: name, text: text})
}

func (b *Bundle) add(f file) {
	b.files = append(b.files, f)
	b.say(f.name)
}

// Missing notes what could not be had.
func (b *Bundle) Missing(what string, err error) {
	text := strings.Join(strings.Fields(fmt.Sprintf("%s: %v", what, err)), " ")
	b.missing = append(b.missing, text)
	b.say("! " + text)
}

func (b *Bundle) say(words string) {
	if b.Say != nil {
		b.Say(newScrubber(b.secrets).text(words))
	}
}

// Write writes a gzipped tar archive with everything below one folder, and a README that says what it is about.
func (b *Bundle) Write(out io.Writer, folder, about string, now time.Time) error {
	zipped := gzip.NewWriter(out)
	archive := tar.NewWriter(zipped)
	scrub := newScrubber(b.secrets)
	readme := about + "\n\nFiles:\n"
	for _, f := range b.files {
		readme += "  " + f.name + "\n"
	}
	if len(b.missing) > 0 {
		readme += "\nCould not be had:\n  " + strings.Join(b.missing, "\n  ") + "\n"
	}
	for _, f := range append([]file{{name: "README", text: readme}}, b.files...) {
		text, err := f.packed(scrub)
		if err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		header := &tar.Header{
			Name: path.Join(folder, f.name), Mode: 0o600, Size: int64(len(text)), ModTime: now, Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("pack %s: %w", f.name, err)
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}
