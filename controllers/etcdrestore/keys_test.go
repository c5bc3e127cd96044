package etcdrestore

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

const (
	publicKey = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
	mistyped  = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwq"
)

// TestKeys says with what a snapshot is read, and with what the cluster's data is saved: to the recipients of the EtcdBackup if it has
// any, which takes no Secret, and otherwise with what has read the snapshot.
func TestKeys(t *testing.T) {
	ref := func(name string) v1beta2.SecretRef { return v1beta2.SecretRef{Name: name} }
	spoken := v1beta2.EtcdBackupSpec{EncryptionSecretRef: ref("phrase")}
	to := v1beta2.EtcdBackupSpec{EncryptionRecipients: []string{publicKey}}
	own := v1beta2.RestoreSource{Storage: &v1beta2.Storage{URL: "s3://bucket"}}
	with := func(s v1beta2.RestoreSource, passphrase, identity string) v1beta2.RestoreSource {
		s.EncryptionSecretRef, s.IdentitySecretRef = ref(passphrase), ref(identity)
		return s
	}
	type use struct {
		secret              string
		encrypted, identity bool
		recipients          []string
	}
	sealed := use{recipients: []string{publicKey}}
	for title, c := range map[string]struct {
		from        v1beta2.RestoreSource
		backup      *v1beta2.EtcdBackupSpec
		read, saved use
	}{
		"by storage, in plain":            {own, nil, use{}, use{}},
		"by storage, a passphrase":        {with(own, "p", ""), nil, use{"p", true, false, nil}, use{"p", true, false, nil}},
		"by storage, an identity":         {with(own, "", "i"), nil, use{"i", false, true, nil}, use{"i", false, true, nil}},
		"the EtcdBackup's passphrase":     {v1beta2.RestoreSource{}, &spoken, use{"phrase", true, false, nil}, use{"phrase", true, false, nil}},
		"an identity in its place":        {with(v1beta2.RestoreSource{}, "", "i"), &spoken, use{"i", false, true, nil}, use{"i", false, true, nil}},
		"of recipients":                   {with(v1beta2.RestoreSource{}, "", "i"), &to, use{"i", false, true, nil}, sealed},
		"of recipients, without identity": {v1beta2.RestoreSource{}, &to, use{}, sealed},
		"from before there were any":      {with(v1beta2.RestoreSource{}, "p", ""), &to, use{"p", true, false, nil}, sealed},
	} {
		t.Run(title, func(t *testing.T) {
			p := &restorePass{object: &v1beta2.EtcdRestore{Spec: v1beta2.EtcdRestoreSpec{RestoreSource: c.from}}, cluster: &v1beta2.EtcdCluster{}}
			if p.object.Status.Source, p.observed.Source = directSource(&p.object.Spec); c.backup != nil {
				p.object.Spec.Backup = &v1beta2.EtcdBackupRef{Name: "b"}
				c.backup.Storage = own.Storage
				p.object.Status.Source, p.observed.Source = backupSource(&p.object.Spec, &v1beta2.EtcdBackup{Spec: *c.backup})
			}
			if p.observed.Source != nil {
				t.Fatalf("%+v", p.observed.Source)
			}
			for phase, want := range map[v1beta2.RestorePhase]use{v1beta2.RestoreVerifying: c.read, v1beta2.RestoreSaving: c.saved} {
				p.object.Status.Phase = phase
				asked, secret := restoreTask(p, task.Task{})
				if secret != want.secret || asked.Encrypted != want.encrypted || asked.Identity != want.identity ||
					!slices.Equal(asked.Recipients, want.recipients) || (asked.Verify != nil) != (phase == v1beta2.RestoreVerifying) {
					t.Errorf("%s: Secret %q of %+v, want %+v", phase, secret, asked, want)
				}
			}
		})
	}
}

// TestNoRecipient finds out before anything is read that nothing could be saved for that key, unless nothing is to be saved.
func TestNoRecipient(t *testing.T) {
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: v1beta2.EtcdBackupSpec{
		Storage: &v1beta2.Storage{URL: "s3://bucket"}, EncryptionRecipients: []string{publicKey, mistyped},
	}}
	spec := &v1beta2.EtcdRestoreSpec{}
	from, problem := backupSource(spec, b)
	if from != nil || problem == nil || problem.Terminal || problem.Reason != v1beta2.ReasonEncryptionKeyRefused ||
		!strings.HasPrefix(problem.Message, "EtcdBackup b: spec.encryptionRecipients[1] ") {
		t.Errorf("got %+v, %+v", from, problem)
	}
	spec.SafetySnapshot = v1beta2.SafetySnapshotSkip
	if from, problem := backupSource(spec, b); from == nil || problem != nil {
		t.Errorf("got %+v, %+v", from, problem)
	}
}
