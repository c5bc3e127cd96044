package licenses

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// named matches the names of files that have licenses and notices of code.
var named = regexp.MustCompile(`(?i)^(unlicense|licen[cs]es?|copying|copyright|notices?|patents)([-_.](txt|md|rst|code|libyaml|apache|apache2|bsd|mit|mpl|third[-_]?party))*$`)

// shipped are the licenses that programs may be shipped under together with ours. All of them are satisfied by handing on their texts and
// notices, and MPL-2.0 by the source being where Go's module proxy has it, unchanged.
var shipped = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unlicense"}

// notices are what a license may come with, and what is none by itself.
var notices = []string{"GooglePatentsFile"}

// judged says what a text is. One that is no license at all is a notice; one that is in part, or another one, is an error.
func judged(content string) (Text, error) {
	text := Text{Content: strings.TrimSpace(strings.ReplaceAll(content, "\r\n", "\n"))}
	for _, match := range licensecheck.Scan([]byte(content)).Match {
		if match.IsURL || slices.Contains(notices, match.ID) {
			continue
		}
		if !slices.Contains(shipped, match.ID) {
			return Text{}, fmt.Errorf("its license is %s, which is not among those that may be shipped: %s", match.ID, strings.Join(shipped, ", "))
		}
		text.Kinds = append(text.Kinds, match.ID)
	}
	slices.Sort(text.Kinds)
	text.Kinds = slices.Compact(text.Kinds)
	return text, nil
}

// Write writes the texts as one document, with a title.
func Write(out io.Writer, title string, texts []Text) error {
	const line = "================================================================================"
	var document strings.Builder
	_, _ = fmt.Fprintln(&document, title)
	for _, text := range texts {
		_, _ = fmt.Fprintf(&document, "\n%s\n%s\n", line, strings.Join(text.Modules, "\n"))
		if len(text.Kinds) > 0 {
			_, _ = fmt.Fprintf(&document, "\n%s\n", strings.Join(text.Kinds, ", "))
		}
		_, _ = fmt.Fprintf(&document, "%s\n%s\n", line, text.Content)
	}
	_, err := io.WriteString(out, document.String())
	return err
}
