// Package meter reads from the operator's own metrics what it costs: processor, memory, requests to the API server and
// calls to etcd.
package meter
