// Package harness deploys the operator, makes clusters, and watches a client work on them: what the demo and the
// stories share.
package harness
