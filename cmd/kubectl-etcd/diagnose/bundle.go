// Package diagnose packs what is known of a cluster for somebody else to look at, without what may be secret. It asks nobody.
package diagnose

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// Bundle gathers what is to be packed. The zero value is empty.
type Bundle struct {
	// Say is told of each file, and of what could not be had; nil for nobody.
	Say     func(string)
	files   []file
	missing []string
	secrets map[string]bool
}

type file struct {
	name string
	text string
}

// Object adds an object, or a list of them, as YAML.
func (b *Bundle) Object(name string, object any) {
	if b.secrets == nil {
		b.secrets = map[string]bool{}
	}
	text, err := manifest(object, b.secrets)
	if err != nil {
		b.Missing(name, err)
		return
	}
	b.Text(name, string(text))
}

// Text adds a text.
func (b *Bundle) Text(name, text string) {
	b.files = append(b.files, file{name, text})
	b.say(name)
}

// Missing notes what could not be had.
func (b *Bundle) Missing(what string, err error) {
	text := strings.Join(strings.Fields(fmt.Sprintf("%s: %v", what, err)), " ")
	b.missing = append(b.missing, text)
	b.say("! " + text)
}

func (b *Bundle) say(words string) {
	if b.Say != nil {
		b.Say(scrub(words, b.longestFirst()))
	}
}

// Write writes a gzipped tar archive with everything below one folder, and a README that says what it is about.
func (b *Bundle) Write(out io.Writer, folder, about string, now time.Time) error {
	zipped := gzip.NewWriter(out)
	archive := tar.NewWriter(zipped)
	secrets := b.longestFirst()
	readme := about + "\n\nFiles:\n"
	for _, f := range b.files {
		readme += "  " + f.name + "\n"
	}
	if len(b.missing) > 0 {
		readme += "\nCould not be had:\n  " + strings.Join(b.missing, "\n  ") + "\n"
	}
	for _, f := range append([]file{{"README", readme}}, b.files...) {
		text := scrub(f.text, secrets)
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

// longestFirst are the secrets, so that one which is a part of another one does not spoil that.
func (b *Bundle) longestFirst() []string {
	var all []string
	for s := range b.secrets {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return all
}
