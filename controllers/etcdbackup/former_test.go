package etcdbackup

import (
	"strings"
	"testing"
	"time"

	clock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestFormerNames takes no backup while a Secret has the field's former name: it would be written in plain text, or by the rights of
// the pod. The schema refuses that of new objects, and keeps it of those that are older.
func TestFormerNames(t *testing.T) {
	const url = "s3://bucket/folder"
	api := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).Build()
	r := &Reconciler{Clock: clock.NewFakePassiveClock(time.Unix(1e9, 0))}
	for want, spec := range map[string]v1beta2.EtcdBackupSpec{
		"spec.encryptionSecretRef.name":          {Storage: &v1beta2.Storage{URL: url}, FormerEncryptionSecret: "passphrase"},
		"spec.storage.credentialsSecretRef.name": {Storage: &v1beta2.Storage{URL: url, FormerSecret: "keys"}},
		"spec.storage.caBundleRef.name":          {Storage: &v1beta2.Storage{URL: url, FormerCASecret: "ca"}},
	} {
		spec.EtcdEndpoints = []string{"http://etcd:2379"}
		p, err := r.observe(t.Context(), api, &v1beta2.EtcdBackup{Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		blocked, ok := backup.Next(p.observed).(backup.Blocked)
		if !ok || blocked.Reason != v1beta2.ReasonStorageMisconfigured || !strings.Contains(blocked.Message, "is called "+want+" now") {
			t.Errorf("%s: %#v", want, backup.Next(p.observed))
		}
	}
}
