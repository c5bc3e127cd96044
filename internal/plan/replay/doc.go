// Package replay keeps what the operator has observed of a cluster, and what it has decided, as one line of its log, and reads it
// back: the same decision can be made again elsewhere, and explained (hack/replay).
package replay
