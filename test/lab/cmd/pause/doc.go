// Command pause is what a pod's sandbox runs: it holds the pod's namespaces and reaps what its containers leave.
package main
