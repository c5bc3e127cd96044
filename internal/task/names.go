package task

import (
	"strings"
	"time"
)

// Cluster identifies an etcd cluster, in tasks and in the manifests of snapshots.
type Cluster struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	UID       string `json:"uid,omitempty"`
	// ID is etcd's, in hexadecimal. It identifies the lineage: a cluster that is recreated, or restored, has another one.
	ID string `json:"id"`
	// Parent is the ID of the cluster whose snapshot this one was restored from, empty if it was started empty, or if the
	// snapshot does not say.
	Parent string `json:"parent,omitempty"`
	// ParentRevision is the revision of that snapshot, 0 if it was started empty.
	ParentRevision int64 `json:"parentRevision,omitempty"`
	// Incarnation counts the first starts of the EtcdCluster with this UID: a restore into it is one more.
	Incarnation int32 `json:"incarnation,omitempty"`
}

// ClusterID is an ID as etcd's own tools write it: in lower case, and without leading zeros, which status has.
func ClusterID(text string) string { return strings.TrimLeft(strings.ToLower(text), "0") }

// SameCluster reports whether two IDs are the same.
func SameCluster(a, b string) bool { return ClusterID(a) == ClusterID(b) }

// Kinds of writers. What an EtcdRestore writes is the data that it is about to replace: it never counts as the latest backup.
const (
	KindBackup  = "EtcdBackup"
	KindRestore = "EtcdRestore"
)

// Writer identifies an EtcdBackup or an EtcdRestore, in tasks and in the manifests of snapshots.
type Writer struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// Identity is the only member of the cluster that a snapshot is restored for. The others join it.
type Identity struct {
	// Name and PeerURL are the member's.
	Name, PeerURL string
	// Token must not have been used before: the IDs of the member and the cluster are made from it and the peer URL.
	Token string
}

// Policy says which snapshots are retained, separately for each lineage. The zero value retains all.
//
// A snapshot is retained if it is among the latest Last, or the latest of one of the latest Hourly hours, Daily days, Weekly
// weeks (from Monday) or Monthly months, in UTC, that have one; or if none of these numbers is set. Without Last, everything of
// the shortest of these periods that the latest one is in is retained, too: a period is thinned out once the next one has started.
// A snapshot older than MaxAge is deleted in any case, unless that is 0. The latest one of each lineage is always retained.
//
// Snapshots taken without quorum do not count against the others: they are counted separately, and only while no other one of
// their lineage has at least their revision.
type Policy struct {
	Last, Hourly, Daily, Weekly, Monthly int
	MaxAge                               time.Duration
}
