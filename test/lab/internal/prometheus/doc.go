// Package prometheus says how Prometheus, and the Prometheus Operator that runs it, are put into a lab: their images and their manifests.
package prometheus
