// Package controllers holds the reconcilers, in a package for each kind: the only place with a Kubernetes client.
//
// Each has a controller.go (the loop), observe.go (reads only), execute.go (effects) and finish.go (the one status write, the
// events, the time of the next pass). The OperatorCondition is OLM's: the operator only sets its condition Upgradeable. What
// several of them need is in controllers/internal.
package controllers
