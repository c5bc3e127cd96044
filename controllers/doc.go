// Package controllers holds the reconcilers, in a package for each kind: the only place with a Kubernetes client.
//
// Each has a controller.go (the loop), observe.go (reads only), execute.go (one effect) and finish.go (the one status write,
// the events, the time of the next look). The OperatorCondition is OLM's: all that is done with it is to say whether the
// operator may be upgraded. What several of them need is in controllers/internal.
package controllers
