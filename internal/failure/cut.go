package failure

import "strings"

// Cut is a text with at most that many bytes, at least 3: what is left out is replaced by an ellipsis. What strangers write may be of any
// length, and Kubernetes refuses a whole status or event for one text that is too long.
func Cut(text string, most int) string {
	const ellipsis = "…"
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(ellipsis)], "") + ellipsis
}
