// Package snapshot takes snapshots of etcd, keeps them in a bucket, checks them, and restores them.
//
// A backup is an object and a manifest beside it. The object is what etcd's Snapshot RPC sends, with the checksum that
// etcd puts at its end, compressed (zstd) and encrypted (age) if that is asked for, so that people can read it back with
// nothing but these programs. The manifest is written last: an object without one is no backup, but what a try has left.
// It is deleted first for the same reason, so that there is never a manifest without its object: whoever is interrupted
// leaves an object that nobody takes for a backup, and that is found again by its name (Leftovers).
//
// Everything is streamed. What is held in memory does not depend on the size of the database, except to verify a
// restore, which counts keys, as etcd itself does when it starts.
package snapshot
