package stories

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Two pairs of keys that age-keygen has made for this story.
const (
	secretKey   = "AGE-SECRET-KEY-166WJ4J0E35GV2TNU70C60WS8JNKZKFTVYVTNXS744NSCPKH6DNFQMA2CME"
	publicKey   = "age1ckza8fjf8ma74w0dm64y093pup6zjfw0tuwsnk8hzdaastafgv7s3w5fxk"
	otherSecret = "AGE-SECRET-KEY-16ZQ6ERA8MF5HC2A4JDEAMS634QMPUQ7KD69GQ338QRXPWWT6NQYQUMNUHZ"
	otherPublic = "age1qqtt9q658weeakfd6g028yx9rj7lrmzgn8ctds466wm2qwfscsqseddexq"
)

// TestBackupToRecipients takes backups that nothing in the cluster can read, until somebody brings an identity for a restore.
func TestBackupToRecipients(t *testing.T) {
	t.Parallel()
	s := begin(t, "recipients", onVolumes(3))
	s.settled()
	storage := s.minio()
	s.puts("before", 100)
	s.backup("sealed", storage, func(spec *v1beta2.EtcdBackupSpec) { spec.EncryptionRecipients = []string{otherPublic, publicKey} })
	if taken := s.backedUp("sealed").Status.Snapshots[0]; taken.Verification != v1beta2.VerifyCiphertext || taken.VerificationTime == nil {
		t.Errorf("the snapshot is %+v", taken)
	}
	s.puts("after", 50)

	from := v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "sealed"}}
	s.secret("passphrase", map[string]string{"passphrase": "correct horse battery staple"})
	for name, secret := range map[string]string{"no-identity": "", "passphrase": "passphrase"} {
		from.EncryptionSecretRef.Name = secret
		s.restore(name, from)
		object := &v1beta2.EtcdRestore{}
		s.saysWhy(name, object, func() []metav1.Condition { return object.Status.Conditions },
			v1beta2.ConditionRestored, v1beta2.ReasonEncryptionKeyRefused)
	}
	s.has("after", 50)

	saved := s.bringsIdentity("sealed").Status.SafetySnapshot
	if saved == nil || saved.Verification != v1beta2.VerifyCiphertext {
		t.Fatalf("what the restore replaced was saved as %+v", saved)
	}
	s.healthy("restored")
	s.settled()
	s.has("before", 100)
	s.has("after", 0)
	s.clean()

	s.secret("other-identity", map[string]string{"identity": otherSecret})
	spec := onVolumes(1)
	spec.RestoreFrom = &v1beta2.RestoreSource{Storage: storage, Snapshot: saved.Name, IdentitySecretRef: v1beta2.SecretRef{Name: "other-identity"}}
	copied := s.another("from-recipients", spec)
	copied.has("after", 50)
}

// bringsIdentity restores by the commands of the document, and takes the identity away again.
func (s *story) bringsIdentity(backup string) *v1beta2.EtcdRestore {
	s.t.Helper()
	r := s.reader()
	r.saves("key.txt", "# public key: "+publicKey+"\n"+secretKey+"\n")
	commands := strings.NewReplacer("example-etcd-cluster-nightly", backup, "{name: example-etcd-cluster}", "{name: "+s.Name+"}").
		Replace(s.commands("backup-and-restore.md", "What is in the bucket", "create secret generic backup-identity"))
	before, after, found := strings.Cut(commands, "\nkubectl delete ")
	if !found {
		s.t.Fatalf("the identity stays: %s", commands)
	}
	restored := s.restored(r.creates(before))
	r.runs("kubectl delete " + after)
	return restored
}
