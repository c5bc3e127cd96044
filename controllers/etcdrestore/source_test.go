package etcdrestore

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestChoiceOfOne wants no snapshot to be restored in the place of the one that was asked for: the schema refuses such a choice, and
// objects that are older than that rule may have it.
func TestChoiceOfOne(t *testing.T) {
	for title, choose := range map[string]func(*v1beta2.EtcdRestoreSpec){
		"snapshot": func(s *v1beta2.EtcdRestoreSpec) { s.Snapshot = "another" },
		"before":   func(s *v1beta2.EtcdRestoreSpec) { s.Before = &metav1.Time{Time: time.Unix(1, 0)} },
	} {
		spec := &v1beta2.EtcdRestoreSpec{RestoreSource: v1beta2.RestoreSource{
			BackupStorageType: v1beta2.StorageTypeS3,
			BackupStorage:     v1beta2.BackupStorage{S3: &v1beta2.S3Storage{Path: "bucket/key"}},
		}}
		if from, problem := directSource(spec); from == nil || problem != nil || from.Object != "key" {
			t.Fatalf("without a choice: %+v, %+v", from, problem)
		}
		choose(spec)
		if from, problem := directSource(spec); from != nil || problem == nil ||
			problem.Reason != v1beta2.ReasonStorageMisconfigured || !strings.Contains(problem.Message, "spec."+title) {
			t.Errorf("%s: %+v, %+v", title, from, problem)
		}
	}
}

// TestFormerNames reads nothing from where a field has its former name, be it of the EtcdRestore or of the EtcdBackup that it names: it
// would be read, and what the cluster holds be saved, without that Secret. What status has noted already goes on.
func TestFormerNames(t *testing.T) {
	url := &v1beta2.Storage{URL: "s3://bucket/folder"}
	backup := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: "b"}}
	backup.Spec = v1beta2.EtcdBackupSpec{Storage: url, FormerEncryptionSecret: "passphrase"}
	api := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).WithObjects(backup).Build()
	for want, c := range map[string]struct {
		from     v1beta2.RestoreSource
		terminal bool
	}{
		"spec.encryptionSecret is":               {v1beta2.RestoreSource{Storage: url, FormerEncryptionSecret: "passphrase"}, true},
		"spec.storage.secret is":                 {v1beta2.RestoreSource{Storage: &v1beta2.Storage{URL: url.URL, FormerSecret: "keys"}}, true},
		"EtcdBackup b: spec.encryptionSecret is": {v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "b"}}, false},
	} {
		p := &restorePass{object: &v1beta2.EtcdRestore{
			ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: "r"}, Spec: v1beta2.EtcdRestoreSpec{RestoreSource: c.from},
		}}
		if err := observeSource(t.Context(), api, p); err != nil {
			t.Fatal(err)
		}
		if problem := p.observed.Source; p.source != nil || problem == nil || problem.Terminal != c.terminal ||
			problem.Reason != v1beta2.ReasonStorageMisconfigured || !strings.HasPrefix(problem.Message, want) {
			t.Errorf("%s: %+v, %+v", want, p.source, problem)
		}
		p.source, p.observed.Source = &v1beta2.RestoredFrom{}, nil
		if err := observeSource(t.Context(), api, p); err != nil || p.observed.Source != nil {
			t.Errorf("%s, and it was noted before: %+v, %v", want, p.observed.Source, err)
		}
	}
}
