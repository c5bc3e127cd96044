// Command lab runs a real multi-node Kubernetes on one bare Linux machine, and breaks it on request.
package main
