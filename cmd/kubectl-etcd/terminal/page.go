// Package terminal lays out what a person reads at a terminal of 80 columns.
package terminal

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/etcdpilot/etcd-operator/internal/wrap"
)

// Columns is how wide a terminal is that nobody made wider.
const Columns = 80

// What a terminal takes for colours (ECMA-48, SGR).
const (
	Bold   = "\x1b[1m"
	Red    = "\x1b[31m"
	Yellow = "\x1b[33m"
	Green  = "\x1b[32m"
	plain  = "\x1b[0m"
)

// Page is what is written, line by line. The zero value has no colours.
type Page struct {
	strings.Builder
	Coloured bool
}

// In puts the words in a colour, if the page has any.
func (p *Page) In(colour, words string) string {
	if !p.Coloured {
		return words
	}
	return colour + words + plain
}

// Line writes a line of words, two spaces apart.
func (p *Page) Line(words ...string) {
	_, _ = fmt.Fprintln(p, strings.TrimRight(strings.Join(words, "  "), " ")) // into memory: it does not fail
}

// Paragraph writes a head, and beside it in the given column text in as many lines as that takes. The head is wide columns wide, which it
// says itself because it may have colours. In column 0 there is none.
func (p *Page) Paragraph(head string, wide, column int, text string) {
	if column > 0 {
		head += strings.Repeat(" ", max(column-wide, 1))
	}
	for _, line := range wrap.Words(Clean(text), Columns-column) {
		p.Line(head + line)
		head = strings.Repeat(" ", column)
	}
}

// Clean takes out what a terminal would obey, and what is not seen but turns the order of what is, or hides in a command that is copied:
// messages may have been written by whoever serves a bucket or an issuer.
func Clean(words string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, words)
}

// Size is a number of bytes as Kubernetes writes it, rounded; a dash for none.
func Size(bytes int64) string {
	const step = 1024
	if bytes == 0 {
		return "-"
	}
	value, unit := float64(bytes), ""
	for _, next := range []string{"Ki", "Mi", "Gi", "Ti"} {
		if value < step {
			break
		}
		value, unit = value/step, next
	}
	const one = 10
	if value < one && unit != "" {
		return fmt.Sprintf("%.1f%s", value, unit)
	}
	return fmt.Sprintf("%.0f%s", value, unit)
}
