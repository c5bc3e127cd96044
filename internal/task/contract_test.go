package task_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// golden reads a file of testdata. These files never change: pods whose tasks and results look like that outlive upgrades of
// the operator. What is added to the contract gets a file of its own, and where a field gets another name the file of before is
// still read, as former-….
func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// reads wants a golden file to be read as that value.
func reads[T any](t *testing.T, name string, want T) {
	t.Helper()
	var got T
	decoder := json.NewDecoder(strings.NewReader(golden(t, name)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is read as %+v, want %+v", name, got, want)
	}
}

// holds wants a golden file to be read as that value, and the value to be written as that file: each side may be the older one.
func holds[T any](t *testing.T, name string, want T) {
	t.Helper()
	reads(t, name, want)
	var written, compact bytes.Buffer
	encoder := json.NewEncoder(&written)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(want); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&compact, []byte(golden(t, name))); err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(written.String()) != compact.String() {
		t.Errorf("%s would be written as %s", name, written.String())
	}
}

// TestTasks holds what a pod is asked to do.
func TestTasks(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	writer := task.Writer{Kind: "EtcdBackup", Namespace: "ns", Name: "nightly", UID: "uid-1"}
	storage := v1beta2.Storage{
		URL: "s3://bucket/folder", CredentialsSecretRef: v1beta2.SecretRef{Name: "keys"}, Endpoint: "https://minio:9000",
		CABundleRef: v1beta2.CABundleRef{Kind: v1beta2.CABundleSecret, Name: "ca", Key: "ca.crt"}, Region: "eu-central-1",
		ForcePathStyle: true,
	}
	claim := v1beta2.Storage{URL: "file:///folder", PersistentVolumeClaim: "nfs"}
	backup := task.Task{
		Writer: writer, Storage: storage, Encrypted: true, Timeout: time.Hour,
		Backup: &task.Backup{
			Endpoints: []string{"https://example-0:2379"}, TLS: true,
			Cluster: task.Cluster{
				Namespace: "ns", Name: "example", UID: "uid-2", ID: "c0ffee", Parent: "b0ba", ParentRevision: 900, Incarnation: 2,
			},
			Ancestors: []string{"b0ba"}, Shared: true, LegacyKey: "etcd.backup", Periodic: true, Compress: true,
			Verify: v1beta2.VerifyRestore,
			Policy: task.Policy{Last: 1, Hourly: 2, Daily: 3, Weekly: 4, Monthly: 5, MaxAge: 24 * time.Hour},
			Spool:  1 << 30, Run: "2026-01-02T03:04:05Z", Again: true, Revision: 4711, AcceptStale: true,
		},
	}
	holds(t, "task-backup.json", backup)
	reads(t, "former-task-backup.json", backup)
	holds(t, "task-backup-recipients.json", task.Task{
		Writer: writer, Storage: claim, Recipients: []string{"age1first", "age1second"}, Timeout: time.Hour,
		Backup: &task.Backup{Endpoints: []string{"http://example-0:2379"}},
	})
	holds(t, "task-backup-login.json", task.Task{
		Writer: writer, Storage: claim, Timeout: time.Hour,
		Backup: &task.Backup{
			Endpoints: []string{"http://example-0:2379"}, Login: &v1beta2.SecretKeyRef{Name: "old", Key: "etcd-root-password"},
		},
	})
	holds(t, "task-verify-identity.json", task.Task{
		Writer: writer, Storage: claim, Identity: true, Timeout: time.Hour, Verify: &task.Verify{EtcdVersion: "3.6.16"},
	})
	holds(t, "task-clean.json", task.Task{Writer: writer, Storage: claim, Timeout: time.Minute, Clean: &task.Clean{}})
	verify := task.Task{
		Writer: writer, Storage: storage, Timeout: time.Hour,
		Verify: &task.Verify{
			Choice:      task.Choice{Object: "snap.db", Before: at, Writer: writer, ClusterID: "c0ffee"},
			EtcdVersion: "3.6.16", Trial: true,
		},
	}
	holds(t, "task-verify.json", verify)
	reads(t, "former-task-verify.json", verify)
	latest := task.Task{Writer: writer, Storage: storage, Timeout: time.Hour, Verify: &task.Verify{EtcdVersion: "3.6.16"}}
	holds(t, "task-verify-latest.json", latest)
	reads(t, "former-task-verify-latest.json", latest)
	holds(t, "task-restore.json", task.Task{
		Writer: writer, Storage: claim, Timeout: time.Hour,
		Restore: &task.Restore{
			Object: "snap.db", SHA256: "5ca1ab1e", Folder: "/var/etcd/data", EtcdVersion: "3.6.16",
			Identity:      task.Identity{Name: "example-0", PeerURL: "http://example-0:2380", Token: "uid-2"},
			RevisionFloor: 6000,
		},
	})
}

// TestResults holds how a pod says that it has ended, and how far it is.
func TestResults(t *testing.T) {
	at := metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Local()}
	done := task.Result{
		Snapshot: &v1beta2.SnapshotStatus{
			Name: "snap.db", URL: "s3://bucket/folder/snap.db", Cluster: "ns/example", ClusterID: "c0ffee", CreationTime: at,
			Revision: 4711, EtcdVersion: "3.6.16", SizeBytes: 8224, StoredSizeBytes: 800, SHA256: "5ca1ab1e",
			Verification: v1beta2.VerifyRestore, VerificationTime: &at,
		},
		Discarded: "damaged.db", DataVersion: "3.6",
		Database: &v1beta2.SnapshotDatabase{
			SizeBytes: 8192, InUseBytes: 4096, AuthEnabled: true,
			Alarms: []v1beta2.SnapshotAlarm{{Name: "NOSPACE", MemberID: "b0b"}},
		},
		Total: 3,
		Lineages: []v1beta2.BackupLineage{
			{ClusterID: "c0ffee", Cluster: "ns/example", Count: 3, Name: "snap.db", Revision: 4711, CreationTime: at},
		},
		Deleted: []string{"old.db"}, Warnings: []string{"an old one is damaged"},
	}
	holds(t, "result-done.json", done)
	reads(t, "former-result-done.json", done)
	holds(t, "result-failed.json", task.Result{Failure: &failure.Problem{
		Reason: v1beta2.ReasonSnapshotDamaged, Message: "it has changed; use another snapshot", Terminal: true,
	}})
	holds(t, "result-passing.json", task.Result{Failure: &failure.Problem{
		Reason: v1beta2.ReasonStorageUnreachable, Message: "the storage cannot be reached",
	}})
	holds(t, "progress.json", task.Progress{Step: task.StepReading, Bytes: 4711})
}
