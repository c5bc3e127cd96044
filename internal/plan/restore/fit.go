package restore

import (
	"fmt"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/authentication"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Database is what a snapshot asks of the cluster that is to run on it.
type Database struct {
	// Size is what counts for etcd's quota, InUse how much of it holds data, in bytes.
	Size, InUse int64
	// Room is what must be free on the initial member's volume for it to be restored there, in bytes.
	Room int64
	// Auth is true if etcd's authentication is switched on in it.
	Auth bool
}

// Members is what the spec, as it is now, gives to members that are made of a snapshot.
type Members struct {
	// Of is whose spec it is, for messages.
	Of string
	// Volume is how much each can store, in bytes, and VolumeField where the spec says so; 0 if it sets no limit.
	Volume      int64
	VolumeField string
	// Quota is the size of the database, in bytes, from which on etcd takes no writes; 0 if there is no limit.
	Quota int64
	// Operator is the common name of the certificate by which the operator is a client of the members; empty if they serve clients
	// without TLS.
	Operator string
}

const (
	// fileSystemShare is the part of a volume that its file system has for itself: one in so many bytes.
	fileSystemShare = 20
	// writing is what the restore itself, and the members that join, add to the database, in bytes.
	writing = 64 << 10
)

// Misfit tells why members cannot be made of the snapshot, nil if they can. All is said at once: who raises the one limit would
// otherwise meet the next one a restore later.
func Misfit(d Database, m Members) *failure.Problem {
	if d.Auth && m.Operator != authentication.RootUser {
		return &failure.Problem{Reason: v1beta2.ReasonSnapshotNeedsAuth, Message: needsAuth(m)}
	}
	var reason string
	var messages []string
	if need := d.Room + d.Room/fileSystemShare; m.Volume > 0 && m.Volume < need {
		reason = v1beta2.ReasonVolumeTooSmall
		messages = append(messages, fmt.Sprintf("%s of %s is %s, and to restore a database of %s takes %s, as it is read and as "+
			"etcd's data at the same time: raise it to that",
			m.VolumeField, m.Of, failure.Mebibytes(m.Volume), failure.Mebibytes(d.Size), failure.Mebibytes(need)))
	}
	if need := d.Size + writing; m.Quota > 0 && m.Quota < need {
		if reason == "" {
			reason = v1beta2.ReasonQuotaTooSmall
		}
		messages = append(messages, fmt.Sprintf("etcd's quota in %s is %s, and the database of the snapshot has %s, of which %s are in "+
			"use: etcd would take no writes; set spec.etcd.quotaBackendBytes to more than %s, or defragment before the snapshot is taken",
			m.Of, failure.Mebibytes(m.Quota), failure.Mebibytes(d.Size), failure.Mebibytes(d.InUse), failure.Mebibytes(need)))
	}
	if reason == "" {
		return nil
	}
	return &failure.Problem{Reason: reason, Message: strings.Join(messages, "; and ")}
}

// needsAuth says why the operator could not run members whose authentication is on.
func needsAuth(m Members) string {
	const text = "etcd's authentication is switched on in the snapshot, and the operator could not be its user root in "
	if m.Operator != "" {
		return fmt.Sprintf(text+"%s, because the certificate in spec.tls.static.operatorSecret has the common name %q: issue one with the "+
			"common name root", m.Of, m.Operator)
	}
	return text + m.Of + ", where clients connect without certificates: restore it into an EtcdCluster with spec.tls.managed; or switch " +
		"authentication off where the snapshot was taken (spec.auth.enabled: false, or etcdctl auth disable), take another one, and restore that"
}
