package packaging

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const levelsFile = "docs/capability-levels.md"

// open is what stands in the place of a proof.
const open = "open"

// levels are the Operator Framework's, as the annotation capabilities spells them.
var levels = []string{"Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"}

// proof is a link to a test: its name, with those of its parts, and its file.
var proof = regexp.MustCompile(`\[([\w/ -]+)\]\(\.\./([\w./-]+)\)`)

// TestCapabilityLevels checks that every test exists that is named as a proof, and that the bundle claims the highest level
// that, with those below it, has nothing open.
func TestCapabilityLevels(t *testing.T) {
	unproved := map[string]bool{}
	for _, level := range levels {
		unproved[level] = true
	}
	for level, points := range readLevels(t) {
		unproved[level] = false
		for _, p := range points {
			unproved[level] = unproved[level] || p.evidence == open
			tests := proof.FindAllStringSubmatch(p.evidence, -1)
			if p.evidence != open && len(tests) == 0 {
				t.Errorf("%s: %s: there is neither a test nor the word %s", level, p.what, open)
			}
			for _, link := range tests {
				if !exists(t, link[1], link[2]) {
					t.Errorf("%s: %s: there is no %s in %s", level, p.what, link[1], link[2])
				}
			}
		}
	}
	claimed := ""
	for _, level := range levels {
		if unproved[level] {
			break
		}
		claimed = level
	}
	if got := readCSV(t).Metadata.Annotations["capabilities"]; got != claimed {
		t.Errorf("the bundle claims %q, and %s proves %q", got, levelsFile, claimed)
	}
}

// point is a line of a level's table.
type point struct{ what, evidence string }

// readLevels gives the points of each level.
func readLevels(t *testing.T) map[string][]point {
	t.Helper()
	points, level := map[string][]point{}, ""
	for line := range strings.SplitSeq(string(read(t, levelsFile)), "\n") {
		if title, found := strings.CutPrefix(line, "## "); found {
			_, level, _ = strings.Cut(title, ": ")
		}
		cells := strings.Split(line, "|")
		const columns = 3
		if len(cells) != columns+2 || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| point") {
			continue
		}
		points[level] = append(points[level], point{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[columns])})
	}
	return points
}

// exists reports whether a file has a test, or a Makefile a target. A part of a test may be told in another file of its folder.
func exists(t *testing.T, name, file string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return false
	}
	if target, found := strings.CutPrefix(name, "make "); found {
		return bytes.Contains(text, []byte("\n"+target+":"))
	}
	name, parts, _ := strings.Cut(name, "/")
	for _, part := range strings.FieldsFunc(parts, func(r rune) bool { return r == '/' }) {
		if !bytes.Contains(text, []byte(`"`+part+`"`)) {
			return false
		}
	}
	files, err := filepath.Glob(filepath.Join(root, path.Dir(file), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	if parts == "" {
		files = []string{filepath.Join(root, file)}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\nfunc "+name+"(")) {
			return true
		}
	}
	return false
}
