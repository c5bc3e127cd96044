package agent

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// pair is a new identity and its recipient.
func pair(t *testing.T) (secret, public string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity.String(), identity.Recipient().String()
}

// reader is a pod at the same storage that has an identity.
func (p *pod) reader(t *testing.T, secret string) *pod {
	t.Helper()
	other := newPod(t)
	other.dirs.Store, other.identity = p.dirs.Store, true
	other.secret(other.dirs.Key, map[string][]byte{task.KeyIdentity: []byte("# created: today\n" + secret + "\n")})
	return other
}

// TestRoundTripRecipients has one pod write what it cannot read, and keep as many as it should, and others read it: those with one of
// the identities.
func TestRoundTripRecipients(t *testing.T) {
	p, s := newPod(t), start(t)
	one, first := pair(t)
	two, second := pair(t)
	p.recipients = []string{first, second}
	s.put(t, 10)
	before := p.must(s.backup(plain)).Snapshot.Name
	revision := s.put(t, 50)
	result := p.must(s.backup(func(b *task.Backup) { b.Policy = task.Policy{Last: 1} }))
	saved := result.Snapshot
	if saved.Verification != v1beta2.VerifyCiphertext || saved.VerificationTime == nil || !slices.Equal(result.Deleted, []string{before}) || result.Total != 1 {
		t.Fatalf("saved %+v, deleted %v", saved, result.Deleted)
	}
	p.fails(verify(latest), v1beta2.ReasonEncryptionKeyRefused, true)
	for title, secret := range map[string]string{"first": one, "second": two} {
		r := p.reader(t, secret)
		found := r.must(verify(func(v *task.Verify) { v.Trial = true })).Snapshot
		if found.SHA256 != saved.SHA256 || found.Revision != revision || found.Verification != v1beta2.VerifyRestore {
			t.Fatalf("%s: found %+v, saved %+v", title, found, saved)
		}
		data := filepath.Join(t.TempDir(), "data")
		r.must(restore(found, data))
		all, err := start(t, func(c *embed.Config) { c.Dir = data }).Get(t.Context(), "key-", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil || all.Count != 50 {
			t.Fatalf("%s: %d keys, %v", title, all.Count, err)
		}
	}
	three, _ := pair(t)
	if text := p.reader(t, three).fails(verify(latest), v1beta2.ReasonEncryptionKeyRefused, true); !strings.Contains(text, first) ||
		!strings.Contains(text, second) || strings.Contains(text, three) {
		t.Errorf("another identity: %s", text)
	}
	p.encrypt()
	if text := p.fails(verify(latest), v1beta2.ReasonEncryptionKeyRefused, true); !strings.Contains(text, "identitySecretRef") {
		t.Errorf("a passphrase: %s", text)
	}
}

// TestSavedForIdentity has a pod with an identity save beside what it has read, as a restore does: it is for the same identity.
func TestSavedForIdentity(t *testing.T) {
	s := start(t)
	s.put(t, 1)
	one, _ := pair(t)
	p := newPod(t).reader(t, one)
	saved := p.must(s.backup(plain)).Snapshot
	if saved.Verification != v1beta2.VerifyChecksum || !strings.HasSuffix(saved.Name, ".age") {
		t.Errorf("saved %+v", saved)
	}
	p.must(verify(named(saved.Name)))
	two, _ := pair(t)
	p.reader(t, two).fails(verify(named(saved.Name)), v1beta2.ReasonEncryptionKeyRefused, true)
}

// TestRecipientsAgain has attempts go on with what an earlier one of the run has saved, which none of them can read, as long as it is
// for the same recipients and not damaged.
func TestRecipientsAgain(t *testing.T) {
	p, s := newPod(t), start(t)
	_, first := pair(t)
	_, second := pair(t)
	p.recipients = []string{first, second}
	s.put(t, 1)
	unread := func(b *task.Backup) { b.Verify = v1beta2.VerifyNone }
	kept := p.must(s.backup(both(runOne, unread))).Snapshot
	if kept.VerificationTime != nil || kept.Verification != v1beta2.VerifyNone {
		t.Errorf("saved %+v", kept)
	}
	p.recipients = []string{second, first}
	retried := s.backup(again)
	retried.Backup.Endpoints = []string{"http://127.0.0.1:1"} // it is not asked for another one
	if same := p.must(retried).Snapshot; same.Name != kept.Name || same.Verification != v1beta2.VerifyCiphertext {
		t.Errorf("went on with %+v", same)
	}
	p.recipients = []string{second}
	s.put(t, 1)
	if other := p.must(s.backup(again)).Snapshot; other.Name == kept.Name || len(p.stored()) != 4 {
		t.Errorf("what is for others was taken for good: %+v of %q", other, p.stored())
	}
	p.recipients = []string{first, second}
	flip(t, p.object(kept.Name))
	s.put(t, 1)
	if result := p.run(s.backup(again)); result.Failure != nil || result.Discarded != kept.Name || result.Snapshot.Name == kept.Name {
		t.Errorf("of a damaged one: %+v, %+v", result, result.Failure)
	}
}

// TestRecipientsLegacy replaces the object at a key of coreos/etcd-operator with one that is compared, and not read.
func TestRecipientsLegacy(t *testing.T) {
	p, s := newPod(t), start(t)
	one, first := pair(t)
	p.recipients = []string{first}
	for range 2 {
		s.put(t, 1)
		saved := p.must(s.backup(func(b *task.Backup) { b.LegacyKey = "once" })).Snapshot
		if saved.Name != "once" || saved.Verification != v1beta2.VerifyCiphertext {
			t.Errorf("saved %+v", saved)
		}
	}
	if stored := p.stored(); len(stored) != 2 {
		t.Errorf("left %q", stored)
	}
	p.reader(t, one).must(verify(named("once")))
}

// TestRecipientsRefused says what is wrong before anything is written, and nothing of a secret key.
func TestRecipientsRefused(t *testing.T) {
	s := start(t)
	secret, public := pair(t)
	for title, c := range map[string]struct {
		change   func(*pod, *task.Backup)
		want     string
		terminal bool
	}{
		"a public key cut off": {func(p *pod, _ *task.Backup) { p.recipients = []string{public, public[:60]} }, "spec.encryptionRecipients[1]", true},
		"a secret key":         {func(p *pod, _ *task.Backup) { p.recipients = []string{secret} }, "spec.encryptionRecipients[0]", true},
		"a trial": {func(p *pod, b *task.Backup) {
			p.recipients, b.Verify = []string{public}, v1beta2.VerifyRestore
		}, "spec.verify", true},
		"no Secret": {func(p *pod, _ *task.Backup) { p.identity = true }, "identitySecretRef", false},
		"no identity": {func(p *pod, _ *task.Backup) {
			p.identity = true
			p.secret(p.dirs.Key, map[string][]byte{task.KeyIdentity: []byte(secret[:len(secret)-1])})
		}, "line 1", true},
	} {
		t.Run(title, func(t *testing.T) {
			p, b := newPod(t), *s.backup(plain).Backup
			c.change(p, &b)
			text := p.fails(task.Task{Backup: &b}, v1beta2.ReasonEncryptionKeyRefused, c.terminal)
			if !strings.Contains(text, c.want) || strings.Contains(text, secret[:len(secret)-1]) {
				t.Errorf("it says %q", text)
			}
			if stored := p.stored(); len(stored) > 0 {
				t.Errorf("left %v", stored)
			}
		})
	}
}
