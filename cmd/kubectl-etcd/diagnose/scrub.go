package diagnose

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What a program may have written that knew it from elsewhere.
var (
	// userinfo is the part of a URL with a password.
	userinfo = regexp.MustCompile(`://[^/@\s"']+@`)
	// query is a parameter of a URL, such as a token or a signature. In JSON the ampersand may be escaped.
	query = regexp.MustCompile(`((?:[?&]|\\u0026)[\w.~%\[\]-]+=)[^&#\\\s"'<>]+`)
	// variable is how etcd logs the value of a variable of its environment.
	variable = regexp.MustCompile(`("variable-value":")(?:[^"\\]|\\.)*"`)
)

// scrubber leaves out what was left out of the objects, wherever else it is.
type scrubber struct {
	// forms are all ways in which programs write that, the longest first, so that one which is a part of another one does not spoil that.
	forms []string
	// spaced finds what has spaces, which may have been broken into lines.
	spaced []*regexp.Regexp
}

func newScrubber(secrets map[string]bool) *scrubber {
	s, forms := &scrubber{}, map[string]bool{}
	for secret := range secrets {
		for _, form := range formsOf(secret) {
			forms[form] = true
		}
		words := strings.Fields(secret)
		if len(words) < 2 {
			continue
		}
		for i, word := range words {
			words[i] = regexp.QuoteMeta(word)
		}
		s.spaced = append(s.spaced, regexp.MustCompile(strings.Join(words, `\s+`)))
	}
	for form := range forms {
		s.forms = append(s.forms, form)
	}
	slices.SortFunc(s.forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	slices.SortFunc(s.spaced, func(a, b *regexp.Regexp) int { return len(b.String()) - len(a.String()) })
	return s
}

// formsOf are a secret as it is, as Go and JSON quote it, with and without what is special in HTML, and as JSON does that is in JSON. Of one
// with several lines, such as a key in PEM, those of one word are secrets, too.
func formsOf(secret string) []string {
	forms := []string{secret}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= shortest && !strings.ContainsAny(line, " \t") {
			forms = append(forms, line)
		}
	}
	quoted := strconv.Quote(secret)
	forms = append(forms, quoted[1:len(quoted)-1])
	for _, html := range []bool{false, true} {
		once := quote(secret, html)
		forms = append(forms, once, quote(once, html))
	}
	return forms
}

// quote is a text as it stands between the quotes of JSON.
func quote(text string, html bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	if encoder.Encode(text) != nil { // a string always has a form
		return text
	}
	quoted := strings.TrimSuffix(out.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

// text leaves it out of a text.
func (s *scrubber) text(text string) string {
	for _, found := range s.spaced {
		text = found.ReplaceAllLiteralString(text, Redacted)
	}
	for _, form := range s.forms {
		text = strings.ReplaceAll(text, form, Redacted)
	}
	text = userinfo.ReplaceAllString(text, "://"+Redacted+"@")
	text = query.ReplaceAllString(text, "${1}"+Redacted)
	return variable.ReplaceAllString(text, "${1}"+Redacted+`"`)
}

// tree leaves it out of an object before anything is quoted, indented or folded. The object stays as it is.
func (s *scrubber) tree(at any) any {
	switch at := at.(type) {
	case string:
		return s.text(at)
	case map[string]any:
		out := make(map[string]any, len(at))
		for key, value := range at {
			out[s.text(key)] = s.tree(value)
		}
		return out
	case []any:
		out := make([]any, len(at))
		for i, value := range at {
			out[i] = s.tree(value)
		}
		return out
	}
	return at
}
