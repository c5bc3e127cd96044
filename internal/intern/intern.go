// Package intern keeps equal strings in memory once: a decoder makes a string for each.
package intern

// Strings are those that are known. The zero value is not usable: make it.
type Strings map[string]string

// One returns the string that is kept of all that are equal to this one.
func (s Strings) One(text string) string {
	if known, ok := s[text]; ok {
		return known
	}
	s[text] = text
	return text
}
