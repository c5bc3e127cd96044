package snapshot

import (
	"fmt"
	"strings"

	"filippo.io/age"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Key encrypts and decrypts snapshots with a passphrase. The program age can do both, too.
type Key struct {
	recipient *age.ScryptRecipient
	identity  *age.ScryptIdentity
}

// minPassphrase is the minimum length in bytes: guessing 16 random characters is infeasible.
const minPassphrase = 16

// Work factors, as powers of two, of deriving a key from the passphrase. Memory is 1 KiB times that: 64 MiB to write,
// and up to 256 MiB to read what the age program wrote. A passphrase of the length that is asked for needs no more.
const (
	workFactor    = 16
	maxWorkFactor = 18
)

// ParseKey reads a Secret. White space around the passphrase is ignored, because files end with a newline.
func ParseKey(secret map[string][]byte) (*Key, error) {
	passphrase := strings.TrimSpace(string(secret[task.KeyPassphrase]))
	if len(passphrase) < minPassphrase {
		return nil, failure.New(failure.Problem{Reason: v1beta2.ReasonEncryptionKeyRefused, Terminal: true, Message: fmt.Sprintf(
			"the Secret of encryptionSecretRef must have a key %q of at least %d characters, such as from `openssl rand -base64 32`",
			task.KeyPassphrase, minPassphrase)})
	}
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	recipient.SetWorkFactor(workFactor)
	identity.SetMaxWorkFactor(maxWorkFactor)
	return &Key{recipient: recipient, identity: identity}, nil
}
