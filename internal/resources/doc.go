// Package resources builds the Kubernetes objects of a cluster. It is pure: the same input gives the same object.
package resources
