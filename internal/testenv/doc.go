// Package testenv gives tests a real Kubernetes API server with this project's CRDs, as config/crd ships them.
package testenv
