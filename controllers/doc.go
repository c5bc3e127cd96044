// Package controllers holds the reconcilers: the only place with a Kubernetes client.
//
// Each kind has four files: _controller (the loop), _observe (reads only), _execute (one effect) and _finish (the one
// status write, the events, the time of the next look). The OperatorCondition is OLM's: all that is done with it is to say
// whether the operator may be upgraded.
package controllers
