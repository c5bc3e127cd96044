package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"filippo.io/age"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/recipient"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Key encrypts snapshots, and decrypts them unless it is of recipients only. The program age can do both, too.
type Key struct {
	to   []age.Recipient
	from []age.Identity
	// recipients are the public keys in their order, none for a passphrase.
	recipients []string
}

// Reads reports whether it decrypts, too.
func (k *Key) Reads() bool { return len(k.from) > 0 }

// passphrase reports whether it is one.
func (k *Key) passphrase() bool { return len(k.recipients) == 0 }

// minPassphrase is the minimum length in bytes: guessing 16 random characters is infeasible.
const minPassphrase = 16

// Work factors, as powers of two, of deriving a key from the passphrase. Memory is 1 KiB times that: 64 MiB to write,
// and up to 256 MiB to read what the age program wrote. A passphrase of the length that is asked for needs no more.
const (
	workFactor    = 16
	maxWorkFactor = 18
)

// ParsePassphrase reads a Secret. White space around the passphrase is ignored, because files end with a newline.
func ParsePassphrase(secret map[string][]byte) (*Key, error) {
	passphrase := strings.TrimSpace(string(secret[task.KeyPassphrase]))
	if len(passphrase) < minPassphrase {
		return nil, failure.New(failure.Problem{Reason: v1beta2.ReasonEncryptionKeyRefused, Terminal: true, Message: fmt.Sprintf(
			"the Secret of encryptionSecretRef must have a key %q of at least %d characters, such as from `openssl rand -base64 32`",
			task.KeyPassphrase, minPassphrase)})
	}
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	from, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	to.SetWorkFactor(workFactor)
	from.SetMaxWorkFactor(maxWorkFactor)
	return &Key{to: []age.Recipient{to}, from: []age.Identity{from}}, nil
}

// ParseRecipients reads public keys. The Key only encrypts.
func ParseRecipients(keys []string) (*Key, error) {
	all, err := recipient.Parse(keys)
	if err != nil {
		return nil, err
	}
	k := &Key{}
	for _, r := range all {
		k.encryptTo(r)
	}
	return k, nil
}

// encryptTo adds a recipient, once.
func (k *Key) encryptTo(r *age.X25519Recipient) {
	at, known := slices.BinarySearch(k.recipients, r.String())
	if known {
		return
	}
	k.recipients = slices.Insert(k.recipients, at, r.String())
	k.to = append(k.to, r)
}

// ParseIdentities reads a Secret with a file as age-keygen writes it: a secret key a line, empty lines, and comments after #. The Key
// decrypts what was encrypted to one of them, and encrypts to all of them. No error quotes anything of it.
func ParseIdentities(secret map[string][]byte) (*Key, error) {
	k := &Key{}
	n := 0
	for line := range strings.Lines(string(secret[task.KeyIdentity])) {
		line = strings.TrimSpace(line)
		if n++; line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		identity, err := age.ParseX25519Identity(line)
		if err != nil {
			return nil, noIdentity(fmt.Sprintf("line %d of it is no secret key", n))
		}
		k.from = append(k.from, identity)
		k.encryptTo(identity.Recipient())
	}
	if !k.Reads() {
		return nil, noIdentity("there is none in it")
	}
	return k, nil
}

func noIdentity(why string) error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonEncryptionKeyRefused, Terminal: true, Message: fmt.Sprintf(
		"the Secret of identitySecretRef must have a key %q with secret keys of age, which begin with AGE-SECRET-KEY-1, one a line, as "+
			"`age-keygen` writes them to a file, and %s", task.KeyIdentity, why)})
}

// unfit says why an object cannot be read with this key, which is nil if there is none; empty if it may be.
func (k *Key) unfit(encrypted, passphrase bool) string {
	switch {
	case !encrypted && k == nil:
		return ""
	case !encrypted: // otherwise whoever can write to the bucket could substitute any data
		field := "encryptionSecretRef"
		if !k.passphrase() {
			field = "identitySecretRef"
		}
		return fmt.Sprintf("it is not encrypted although %s is set: to trust it anyway, remove %s", field, field)
	case passphrase && (k == nil || !k.passphrase()):
		return "it is encrypted with a passphrase: set encryptionSecretRef to the Secret with it, and not identitySecretRef"
	case !passphrase && (k == nil || k.passphrase() || !k.Reads()):
		return "it is encrypted to recipients: set identitySecretRef to a Secret with the identity (secret key) of one of them, " +
			"and not encryptionSecretRef"
	}
	return ""
}

// refused says that a key is another one than the object's.
func (k *Key) refused() string {
	if k.passphrase() {
		return "wrong passphrase"
	}
	return "wrong identity: the Secret of identitySecretRef has none of its recipients', but of " + brief(k.recipients)
}

// among reports whether what is encrypted to these recipients can be decrypted with it.
func (k *Key) among(to Recipients) bool {
	return slices.ContainsFunc(strings.Fields(string(to)), func(r string) bool { return slices.Contains(k.recipients, r) })
}

// recipientsNamed is the maximum number of recipients in a message.
const recipientsNamed = 3

func brief(recipients []string) string {
	if more := len(recipients) - recipientsNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(recipients[:recipientsNamed], ", "), more)
	}
	return strings.Join(recipients, ", ")
}
