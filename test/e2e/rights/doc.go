// Package rights compares what the operator may do with what it does: its roles, as they are bound in a Kubernetes cluster, with the
// requests that the API server's audit log has of it. A right that is never used is one too many; a request that is refused for
// want of a right is one too few.
package rights
