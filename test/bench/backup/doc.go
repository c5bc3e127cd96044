// Command backup measures what the agent's backups and restores cost, beside those of etcdctl and etcdutl. It needs no
// Kubernetes: it starts an etcd and MinIO, fills the etcd to each size with values that do not compress, and runs the
// agent's real program, in a folder that is the root of its file system, as the image is in a pod.
//
// Every program is measured from outside: the time from its start to its end, and what the kernel says of it. While a
// snapshot is taken, a client writes every 10 ms and notes how long it waits. It needs root, for chroot and to drop the
// page cache before each measurement.
package main
