// Package lab runs a real multi-node Kubernetes on one bare Linux machine, and breaks it on request. It needs root,
// Go and Debian's packages, but no Docker engine and no image registry: everything is built from pinned modules.
package lab
