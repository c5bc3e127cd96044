// Package addons holds what every Kubernetes cluster has beside its own components: DNS, a default StorageClass, and
// the images that they and the lab's users run.
package addons
