package backup

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

func nightly() v1beta2.EtcdBackup {
	return v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec: v1beta2.EtcdBackupSpec{
			EtcdCluster: &v1beta2.EtcdClusterRef{Name: "demo"},
			Storage:     &v1beta2.Storage{URL: "s3://b/demo", CredentialsSecretRef: v1beta2.SecretRef{Name: "storage"}},
			Schedule:    "@daily", TimeZone: "UTC", Suspend: true, Verify: v1beta2.VerifyRestore, DeletionPolicy: v1beta2.DeletionDelete,
			EncryptionRecipients: []string{"age1x"}, PrefixPolicy: v1beta2.PrefixShared,
			BackupPolicy: &v1beta2.BackupPolicy{MaxBackups: 7, TimeoutSeconds: 60},
			Pod:          &v1beta2.AgentPodPolicy{ServiceAccountName: "backup"},
		},
	}
}

func named(name string, change func(*v1beta2.EtcdBackup)) v1beta2.EtcdBackup {
	b := nightly()
	b.Name = name
	if change != nil {
		change(&b)
	}
	return b
}

func single(b *v1beta2.EtcdBackup) { b.Spec.Schedule, b.Spec.BackupPolicy = " ", nil }

func legacy(b *v1beta2.EtcdBackup) {
	b.Spec.Storage, b.Spec.StorageType, b.Spec.S3 = nil, v1beta2.StorageTypeS3, &v1beta2.S3Storage{Path: "b/k"}
}

func deleted(b *v1beta2.EtcdBackup) { b.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }

// TestChoose finds the EtcdBackup that is meant, or says what to pass.
func TestChoose(t *testing.T) {
	one, two, former := nightly(), named("weekly", nil), named("former", single)
	for title, test := range map[string]struct {
		all  []v1beta2.EtcdBackup
		from string
		want string
	}{
		"the only one":              {[]v1beta2.EtcdBackup{one}, "", "nightly"},
		"none":                      {nil, "", "create one"},
		"none, and one is named":    {nil, "x", "has no EtcdBackup x, but none"},
		"several":                   {[]v1beta2.EtcdBackup{one, two}, "", "--from whose storage and credentials to use: nightly, weekly"},
		"several, one is named":     {[]v1beta2.EtcdBackup{one, two}, "weekly", "weekly"},
		"beside a copy of it":       {[]v1beta2.EtcdBackup{former, one}, "", "nightly"},
		"a single one":              {[]v1beta2.EtcdBackup{former}, "", "former"},
		"another one is named":      {[]v1beta2.EtcdBackup{one}, "x", "has no EtcdBackup x, but nightly"},
		"coreos/etcd-operator's":    {[]v1beta2.EtcdBackup{named("old", legacy)}, "", "coreos/etcd-operator"},
		"beside coreos's":           {[]v1beta2.EtcdBackup{named("old", legacy), one}, "", "nightly"},
		"being deleted":             {[]v1beta2.EtcdBackup{named("gone", deleted)}, "", "is being deleted"},
		"being deleted and another": {[]v1beta2.EtcdBackup{named("gone", deleted), one}, "", "nightly"},
	} {
		b, err := choose("demo", test.all, test.from)
		if (b == nil || b.Name != test.want) && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, %v", title, b, err)
		}
	}
}

// TestLike copies where to, and how, and not when, nor what is kept.
func TestLike(t *testing.T) {
	source := nightly()
	b := like(&source)
	s := b.Spec
	if b.GenerateName != "demo-now-" || s.Schedule != "" || s.TimeZone != "" || s.Suspend || s.DeletionPolicy != v1beta2.DeletionRetain {
		t.Errorf("it is %+v", b)
	}
	if p := s.BackupPolicy; p == nil || *p != (v1beta2.BackupPolicy{TimeoutSeconds: 60}) {
		t.Errorf("its policy is %+v", p)
	}
	if s.Storage.CredentialsSecretRef.Name != "storage" || s.Verify != v1beta2.VerifyRestore || s.EncryptionRecipients[0] != "age1x" ||
		s.PrefixPolicy != v1beta2.PrefixShared || s.Pod.ServiceAccountName != "backup" || s.EtcdCluster.Name != "demo" {
		t.Errorf("it has not all of the source: %+v", s)
	}
	if source.Spec.Schedule == "" || source.Spec.BackupPolicy.MaxBackups == 0 {
		t.Error("the source was changed")
	}
	source.Spec.EtcdCluster.Name = strings.Repeat("a", 60)
	if n := len(like(&source).GenerateName) + len("12345"); n > 63 {
		t.Errorf("a name may have %d characters", n)
	}
}

// TestStep knows when a single backup is over.
func TestStep(t *testing.T) {
	set := func(pairs ...string) []metav1.Condition {
		var all []metav1.Condition
		for i := 0; i < len(pairs); i += 3 {
			all = append(all, metav1.Condition{
				Type: pairs[i], Status: metav1.ConditionStatus(pairs[i+1]), Reason: pairs[i+2], Message: "says " + pairs[i+2],
			})
		}
		return all
	}
	for title, test := range map[string]struct {
		conditions  []metav1.Condition
		begun, done bool
		says, fails string
	}{
		"not seen":       {nil, false, false, "", ""},
		"under way":      {set("Accepted", "True", "Accepted", "Progressing", "True", "BackingUp", "BackedUp", "Unknown", "NoBackupYet"), true, false, "BackingUp", ""},
		"it waits":       {set("Progressing", "True", "WaitingForCluster"), true, false, "WaitingForCluster", ""},
		"to be retried":  {set("Progressing", "True", "WaitingForRetry", "BackedUp", "False", "StorageFull"), true, false, "says StorageFull", ""},
		"taken":          {set("Progressing", "False", "Completed", "BackedUp", "True", "BackedUp"), true, true, "", ""},
		"given up":       {set("Progressing", "False", "Completed", "BackedUp", "False", "NoSuchBucket"), true, true, "", "NoSuchBucket: says NoSuchBucket"},
		"never accepted": {set("Accepted", "False", "InvalidPod", "Progressing", "False", "InvalidPod", "BackedUp", "Unknown", "NoBackupYet"), true, true, "", "InvalidPod"},
		"it is blocked":  {set("Accepted", "True", "Accepted", "Progressing", "False", "ClusterMissing", "BackedUp", "Unknown", "NoBackupYet"), true, true, "", "ClusterMissing"},
	} {
		b := nightly()
		b.Status.Conditions = test.conditions
		s := step(&b)
		if s.Begun != test.begun || s.Done != test.done || !strings.Contains(s.Reason+": "+s.Message, test.says) {
			t.Errorf("%s: %+v", title, s)
		}
		if (s.Problem == nil) != (test.fails == "") || s.Problem != nil && !strings.Contains(s.Problem.Error(), test.fails) {
			t.Errorf("%s: it fails with %v", title, s.Problem)
		}
	}
}
