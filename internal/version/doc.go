// Package version knows the operator's own version and the etcd versions that it runs.
package version
