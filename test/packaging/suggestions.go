package packaging

import "strings"

// Unwanted reports whether a suggestion of the scorecard is not adopted: an example with a status would tell users what the
// operator has not seen.
func Unwanted(suggestion string) bool {
	return strings.Contains(suggestion, "does not have status spec")
}
