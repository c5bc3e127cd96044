// Package snapshot takes snapshots of etcd, stores them in a bucket, verifies them, and restores them.
//
// A backup consists of an object and its manifest. The object is what etcd's Snapshot RPC sends, with the checksum that etcd
// appends, optionally compressed (zstd) and encrypted (age), so that it can be read with nothing but these programs. The manifest
// is written last: an object without one is not a backup, but a leftover of an attempt. The manifest is deleted first for the same
// reason, so that there is never a manifest without its object: an interruption leaves an object that is not mistaken for a backup,
// and that is found by its name (Leftovers).
//
// Everything is streamed. The memory in use does not depend on the size of the database, except when a restore is verified, which
// counts keys, as etcd itself does when it starts.
package snapshot
