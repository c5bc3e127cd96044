// Package notes reads what is written of a release in the source tree, and says whether the tree can be released.
package notes

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Section is what the changelog says of a version.
type Section struct {
	// Date of the release. The zero time means that it is not released yet.
	Date time.Time
	// Line that the title is in.
	Line int
	// Text below the title.
	Text string
}

// Cut gives the section of a version, whose title is ## [VERSION] - DATE. A changelog without it, or with an empty one, is an error.
func Cut(changelog, version string) (Section, error) {
	title := regexp.MustCompile(`(?m)^## \[` + regexp.QuoteMeta(version) + `\] - (.+)\n`).FindStringSubmatchIndex(changelog)
	if title == nil {
		return Section{}, fmt.Errorf("CHANGELOG.md has no title \"## [%s] - DATE\": write what users notice of this version", version)
	}
	date, text := changelog[title[2]:title[3]], changelog[title[1]:]
	if next := regexp.MustCompile(`(?m)^(## |\[.+\]: )`).FindStringIndex(text); next != nil {
		text = text[:next[0]]
	}
	section := Section{Text: strings.TrimSpace(text), Line: strings.Count(changelog[:title[0]], "\n") + 1}
	if section.Text == "" {
		return Section{}, fmt.Errorf("CHANGELOG.md says nothing of %s: write what users notice of this version", version)
	}
	if date == "Unreleased" {
		return section, nil
	}
	var err error
	if section.Date, err = time.Parse(time.DateOnly, date); err != nil {
		return Section{}, fmt.Errorf("CHANGELOG.md has the date %q of %s: want one such as 2026-01-31, or Unreleased", date, version)
	}
	return section, nil
}

// relative matches links to files of the repository.
var relative = regexp.MustCompile(`\]\(([^):#]+(?:#[^)]*)?)\)`)

// Page is the text of a release's page: the section, where links that lead into the repository need all of its address, the names of the
// images by digest, whether the release is signed, and the version of Go that gives the same files to everyone.
func (s Section) Page(source, version, compiler string, images []string, signed bool) string {
	address := source + "/blob/v" + version + "/"
	text := strings.TrimSpace(strings.NewReplacer(" "+nothing, "", nothing, "").Replace(s.Text))
	text = relative.ReplaceAllString(text, "]("+address+"$1)")
	text += "\n\n### Images\n\n```\n" + strings.Join(images, "\n") + "\n```\n\n"
	text += "Made with " + compiler + ". "
	if signed {
		text += "The images, the chart and SHA256SUMS are signed with the key of [" + KeyFile + "](" + address + KeyFile + "). "
	} else {
		text += "This release is not signed. "
	}
	return text + "How to verify it: [docs/release.md](" + address + "docs/release.md#verify).\n"
}
