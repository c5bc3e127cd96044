// Package docs has those of the documents that programs quote.
package docs

import _ "embed" // for Reasons

// Reasons is the document about all reasons, which is generated.
//
//go:embed reasons.md
var Reasons string
