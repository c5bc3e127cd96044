package terminal_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// TestTable cuts names in the middle where lines are too long, and nothing else.
func TestTable(t *testing.T) {
	head := []string{"MEMBER", "NODE", "DB"}
	for title, test := range map[string]struct {
		row  []string
		want string
	}{
		"fits":           {[]string{"demo-0", "worker-größe", "412Mi"}, "demo-0  worker-größe  412Mi"},
		"a long node":    {[]string{"demo-0", strings.Repeat("x", 50) + strings.Repeat("y", 30), "412Mi"}, "demo-0  " + strings.Repeat("x", 32) + "…xx" + strings.Repeat("y", 30) + "  412Mi"},
		"both are long":  {[]string{strings.Repeat("a", 58) + "-12", "ip-10-0-1-2.example.internal", "412Mi"}, strings.Repeat("a", 29) + "…" + strings.Repeat("a", 26) + "-12  ip-10-0-1-2…  412Mi"},
		"what is obeyed": {[]string{"demo-0", "\x1b[31mred", "412Mi"}, "demo-0   [31mred  412Mi"},
	} {
		rows := terminal.Table([][]string{head, test.row}, 1, 0)
		got := strings.TrimRight(strings.Join(rows[1], "  "), " ")
		if n := utf8.RuneCountInString(got); n > terminal.Columns || strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(test.want), " ") {
			t.Errorf("%s: %d columns\n%q, not\n%q", title, n, got, test.want)
		}
		for i := range head {
			if utf8.RuneCountInString(rows[0][i]) != utf8.RuneCountInString(rows[1][i]) {
				t.Errorf("%s: column %d does not line up: %q", title, i, rows)
			}
		}
	}
}

// TestParagraph keeps to the width, colours or not, and shows none that it was not told of.
func TestParagraph(t *testing.T) {
	var texts []string
	for _, coloured := range []bool{false, true} {
		p := &terminal.Page{Coloured: coloured}
		p.Paragraph(p.In(terminal.Red, "!"), 1, 2, "\x1b[2J"+strings.Repeat("word ", 40))
		texts = append(texts, p.String())
	}
	if strings.Contains(texts[0], "\x1b") || !strings.HasPrefix(texts[1], terminal.Red+"!") || strings.Count(texts[1], "\x1b") != 2 {
		t.Errorf("they are %q", texts)
	}
	for line := range strings.Lines(texts[0]) {
		if utf8.RuneCountInString(line) > terminal.Columns+1 || !slices.Contains([]string{"! ", "  "}, line[:2]) {
			t.Errorf("a line is %q", line)
		}
	}
}

// TestClean leaves nothing that a terminal obeys, or shows in another order than it is.
func TestClean(t *testing.T) {
	for words, want := range map[string]string{
		"größe 日本":              "größe 日本",
		"\x1b[2J\u009b1m":       " [2J 1m",
		"a\u202egnp.exe\u202c":  "agnp.exe",
		"a\u200bb\u2066c\u2069": "abc",
		"\ufeffa\U000e0041":     "a",
	} {
		if got := terminal.Clean(words); got != want {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
}
