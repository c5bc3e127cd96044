// Package version defines the operator's own version and the etcd versions that it supports.
package version
