// Package memberrun guards every start of etcd in a member's pod. An init container runs once a pod, but a container
// restarts many times, and an etcd that finds its directory empty takes its old identity without asking: so this runs
// before each start, reads whose data is there, and lets etcd start only with it, or with a permit of the operator.
package memberrun
