package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// listed is an EtcdBackup with snapshots that were verified in these ways.
func listed(name string, how ...v1beta2.Verification) v1beta2.EtcdBackup {
	b := named(name, func(b *v1beta2.EtcdBackup) { b.Spec.Suspend = false })
	for i, v := range how {
		taken := now.Add(-time.Duration(24*i+6) * time.Hour)
		b.Status.Snapshots = append(b.Status.Snapshots, v1beta2.SnapshotStatus{
			Name:            snapshot.Name(81223-int64(1000*i), taken, "ab12cd34", snapshot.Encoding{Compress: true}) + ".age",
			CreationTime:    metav1.NewTime(taken),
			StoredSizeBytes: 388 << 20, SizeBytes: 800 << 20, Verification: v, EtcdVersion: "3.6.16",
		})
	}
	b.Status.SnapshotCount = int32(len(how))
	return b
}

// TestNoCredentials says what to set where a person works, and not in a pod.
func TestNoCredentials(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for _, set := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"} {
		t.Setenv(set, "")
	}
	_, err := place{target: blobstore.Target{URL: "s3://b/demo", Region: "eu-central-1"}}.read(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE") || strings.Contains(err.Error(), "pod") {
		t.Errorf("it says %v", err)
	}
}

// TestWrite compares what a person sees with what was looked at, and found to be good.
func TestWrite(t *testing.T) {
	failed := listed("nightly", v1beta2.VerifyChecksum, v1beta2.VerifyNone)
	failed.Spec.Storage.Endpoint, failed.Spec.Storage.ForcePathStyle = "https://minio.storage.svc:9000", true
	failed.Spec.Storage.CABundleRef.Name = "minio"
	failed.Spec.Suspend, failed.Status.SnapshotCount = true, 14
	failed.Status.Lineages = make([]v1beta2.BackupLineage, 2)
	failed.Status.Snapshots[1].Stale = true
	failed.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionBackedUp, Status: metav1.ConditionFalse, Reason: "StorageAccessDenied", Message: "s3://b/demo: \x1b[31mAccessDenied",
	}}
	scheduled := listed("nightly", v1beta2.VerifyRestore, v1beta2.VerifyChecksum)
	scheduled.Status.SnapshotCount = 14
	for name, backups := range map[string][]v1beta2.EtcdBackup{
		"healthy":   {listed("nightly", v1beta2.VerifyRestore, v1beta2.VerifyCiphertext, v1beta2.VerifyNone), listed("demo-now-x7k2p")},
		"failed":    {failed},
		"scheduled": {scheduled},
	} {
		t.Run(name, func(t *testing.T) {
			var groups []Group
			for _, b := range backups {
				groups = append(groups, ofBackup(b))
			}
			golden(t, name, groups)
			if name == "scheduled" {
				documented.Shows(t, "kubectl etcd backup list demo", printed(t, groups))
			}
		})
	}
}

// TestCommandIsQuoted prints no command that does anything else than list snapshots.
func TestCommandIsQuoted(t *testing.T) {
	for url, want := range map[string]string{
		"s3://b/demo_1.x-y":       "s3://b/demo_1.x-y",
		"s3://b/$(rm -r ~)":       "'s3://b/$(rm -r ~)'",
		"s3://b/x; reboot":        "'s3://b/x; reboot'",
		"s3://b/'; reboot; '":     `'s3://b/'\''; reboot; '\'''`,
		"s3://b/x\nreboot":        "'s3://b/x reboot'",
		"":                        "''",
		"https://a.example/?a&b~": "'https://a.example/?a&b~'",
	} {
		var out strings.Builder
		g := Group{Backup: "nightly", URL: url, Count: 2, Snapshots: []Snapshot{{Name: "a", Taken: now}}}
		must(t, write(&out, []Group{g}, now))
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.HasSuffix(got, "older ones: kubectl etcd backup list --url "+want) {
			t.Errorf("%q: %s", url, got)
		}
	}
}

func printed(t *testing.T, groups []Group) string {
	t.Helper()
	var out strings.Builder
	must(t, write(&out, groups, now))
	return out.String()
}

func golden(t *testing.T, name string, groups []Group) {
	t.Helper()
	out := printed(t, groups)
	documented.Golden(t, name, out)
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && !strings.HasPrefix(line, "kubectl etcd ") && !strings.Contains(line, ": https://") { // what is copied is in one piece
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

// put writes a backup into a folder as agents do, without data.
func put(t *testing.T, folder string, m snapshot.Manifest) {
	t.Helper()
	for name, text := range objects(t, m) {
		must(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
}

// objects are what there is of a backup, by name.
func objects(t *testing.T, m snapshot.Manifest) map[string][]byte {
	t.Helper()
	data, err := json.Marshal(m)
	must(t, err)
	sum := sha256.Sum256(data)
	text, err := json.Marshal(map[string]any{
		"format": "etcd-operator/snapshot/v1", "sha256": hex.EncodeToString(sum[:]), "manifest": json.RawMessage(data),
	})
	must(t, err)
	return map[string][]byte{m.Object + ".manifest.json": text, m.Object: make([]byte, m.StoredSize)}
}

// manifest is of a backup of that cluster.
func manifest(name, id string, revision int64) snapshot.Manifest {
	taken := now.Add(-time.Duration(revision) * time.Hour)
	return snapshot.Manifest{
		Object: snapshot.Name(revision, taken, "ab12cd34", snapshot.Encoding{Compress: true}), TakenAt: taken, Revision: revision,
		Cluster:     task.Cluster{Namespace: "default", Name: name, UID: "uid-" + name, ID: id},
		EtcdVersion: "3.6.16", Size: 100, StoredSize: 10,
	}
}

// TestBucket lists what is left of two clusters in a folder, as in a bucket.
func TestBucket(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, manifest("demo", "3c1f7a90b2d4e586", 12))
	put(t, folder, manifest("demo", "3c1f7a90b2d4e586", 30))
	p := place{target: blobstore.Target{URL: "file://" + folder}}
	one, err := p.read(t.Context(), "")
	must(t, err)
	if len(one) != 1 || !one[0].Latest || one[0].Count != 2 || one[0].Snapshots[0].Revision != 30 || one[0].Cluster != "default/demo" {
		t.Fatalf("of one cluster: %+v", one)
	}
	one[0].URL = "s3://b/demo"
	golden(t, "latest", one)
	documented.Shows(t, "kubectl etcd backup list --url s3://b/demo", printed(t, one))

	put(t, folder, manifest("other", "7", 5))
	damaged := manifest("demo", "3c1f7a90b2d4e586", 40)
	put(t, folder, damaged)
	must(t, os.WriteFile(filepath.Join(folder, damaged.Object), nil, 0o600))
	all, err := p.read(t.Context(), "")
	must(t, err)
	for i := range all {
		all[i].URL = "s3://b/demo"
	}
	golden(t, "bucket", all)

	only, err := p.read(t.Context(), "other")
	must(t, err)
	if len(only) != 2 || only[0].Cluster != "default/other" || only[0].Latest {
		t.Errorf("of the other cluster: %+v", only)
	}

	p.target.URL += "/none"
	if _, err := p.read(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "with the credentials of your environment") {
		t.Errorf("of a folder that is not there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "none")); !os.IsNotExist(err) {
		t.Errorf("looking has made it: %v", err)
	}
}

// TestAmbient knows Azure's variables.
func TestAmbient(t *testing.T) {
	env := map[string]string{"AZURE_STORAGE_KEY": "k", "AZURE_STORAGE_ACCOUNT": "a"}
	get := func(name string) string { return env[name] }
	if c := ambient("azblob://c/p", get); string(c["storage-key"]) != "k" || string(c["storage-account"]) != "a" || len(c) != 2 {
		t.Errorf("they are %v", c)
	}
	if c := ambient("s3://b/p", get); c != nil {
		t.Errorf("Amazon gets %v", c)
	}
	delete(env, "AZURE_STORAGE_KEY")
	if c := ambient("azblob://c/p", get); c != nil {
		t.Errorf("without a key: %v", c)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
