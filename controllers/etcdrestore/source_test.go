package etcdrestore

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
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
