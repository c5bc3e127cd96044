// Package memberrun guards every start of etcd in a member's pod. An init container runs once per pod, but a container can restart many
// times, and an etcd with an empty directory would silently take its old identity. So this runs before each start, reads which member
// the data belongs to, and lets etcd start only with that data, or with a permit of the operator.
package memberrun
