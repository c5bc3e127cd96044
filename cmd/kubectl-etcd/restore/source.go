// Package restore is "kubectl etcd restore".
package restore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/follow"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// choice is what is to be restored.
type choice struct {
	// backup is the EtcdBackup with the storage and the keys.
	backup *v1beta2.EtcdBackup
	// object is the name of the snapshot, empty for the latest one, and snapshot what status says of it, nil if it says nothing.
	object   string
	snapshot *v1beta2.SnapshotStatus
}

// choose finds what is meant: EtcdBackup, EtcdBackup/snapshot, or a snapshot that the status of one of them names.
func choose(from string, all []v1beta2.EtcdBackup) (choice, error) {
	name, object, _ := strings.Cut(from, "/")
	if i := slices.IndexFunc(all, func(b v1beta2.EtcdBackup) bool { return b.Name == name }); i >= 0 {
		return choice{backup: &all[i], object: object, snapshot: find(all[i], object)}, nil
	}
	if object == "" {
		for i, b := range all {
			if s := find(b, name); s != nil {
				return choice{backup: &all[i], object: name, snapshot: s}, nil
			}
		}
	}
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	if len(names) == 0 {
		return choice{}, errors.New("the namespace has no EtcdBackup: create an EtcdRestore that says where the snapshot is in spec.storage " +
			"(docs/backup-and-restore.md)")
	}
	return choice{}, fmt.Errorf("%q is neither an EtcdBackup, nor a snapshot that the status of one of them names. EtcdBackups: %s. Older "+
		"snapshots are named as EtcdBackup/snapshot", from, strings.Join(names, ", "))
}

// find is what status says of a snapshot, or of the latest one if the name is empty.
func find(b v1beta2.EtcdBackup, object string) *v1beta2.SnapshotStatus {
	for i, s := range b.Status.Snapshots {
		if s.Name == object || object == "" && !s.Stale {
			return &b.Status.Snapshots[i]
		}
	}
	return nil
}

// source is the choice in a spec.
func (c choice) source(identity string, before *metav1.Time) v1beta2.RestoreSource {
	s := v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: c.backup.Name}, Snapshot: c.object, Before: before}
	s.IdentitySecretRef.Name = identity
	return s
}

// words are what will be done to a cluster.
func (c choice) words(to *v1beta2.EtcdCluster, before *metav1.Time, identity string, now time.Time) (does string, remarks []string) {
	what := "the latest snapshot of EtcdBackup " + c.backup.Name
	switch {
	case before != nil:
		what = fmt.Sprintf("the latest snapshot of EtcdBackup %s from before %s", c.backup.Name, before.UTC().Format(time.RFC3339))
	case c.object != "":
		what = fmt.Sprintf("snapshot %s of EtcdBackup %s", c.object, c.backup.Name)
	}
	if s := c.snapshot; s != nil && before == nil {
		what += fmt.Sprintf(" (taken %s ago at revision %d, %s unpacked)", duration.HumanDuration(now.Sub(s.CreationTime.Time)), s.Revision,
			terminal.Size(s.SizeBytes))
	}
	does = fmt.Sprintf("All data of %s/%s, in %d members, are replaced by %s. What was written since is no longer there. The members "+
		"stop, and clients wait until the new ones are up.", to.Namespace, to.Name, to.Status.Size, what)
	if of := c.backup.Spec.EtcdCluster; of == nil || of.Name != to.Name {
		remarks = append(remarks, "the snapshot is of another cluster than "+to.Name)
	}
	if to.Status.Storage == v1beta2.MemberStorageEmptyDir {
		remarks = append(remarks, "what the cluster holds is saved first, beside the snapshot; if it cannot be, the restore stops. Members keep their data on an emptyDir: once "+
			"they have stopped, there are no volumes to go back to")
	} else {
		remarks = append(remarks, "what the cluster holds is saved first, beside the snapshot, if a member answers, and the volumes of the present members are kept "+
			"until you delete them")
	}
	if to.Spec.Paused {
		remarks = append(remarks, to.Name+" is paused (spec.paused): nothing is restored until that is over")
	}
	if len(c.backup.Spec.EncryptionRecipients) > 0 && identity == "" {
		remarks = append(remarks, "it is encrypted to recipients: the Secret with an identity has to be given with --identity")
	}
	return does, remarks
}

// step is how far an EtcdRestore is.
func step(r *v1beta2.EtcdRestore) follow.Step {
	said := meta.FindStatusCondition(r.Status.Conditions, v1beta2.ConditionRestored)
	s := follow.Step{Begun: said != nil}
	if said != nil {
		s.Reason, s.Message = said.Reason, said.Message
	}
	if r.Status.Phase != "" {
		s.Reason = string(r.Status.Phase)
	}
	switch {
	case r.Status.Succeeded, r.Status.Phase == v1beta2.RestoreSucceeded:
		s.Done = true
	case r.Status.Phase == v1beta2.RestoreFailed:
		s.Done, s.Problem = true, errors.New(strings.TrimPrefix(s.Message, ": "))
		if said != nil {
			s.Problem = errors.New(said.Reason + ": " + said.Message)
		}
	}
	return s
}
