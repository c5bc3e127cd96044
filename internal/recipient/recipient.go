// Package recipient reads the public keys of age that backups are encrypted to. The operator checks them before it has a pod made,
// and the agent encrypts with them.
package recipient

import (
	"fmt"

	"filippo.io/age"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// fileKeySize is how long the key is that age encrypts to each recipient, in bytes.
const fileKeySize = 16

// Parse reads the encryptionRecipients of an EtcdBackup. The error is a failure.Error, which names the first one that cannot be
// encrypted to: the schema sees their form, but neither their checksums nor whether they are points that X25519 can use.
func Parse(keys []string) ([]*age.X25519Recipient, error) {
	all := make([]*age.X25519Recipient, 0, len(keys))
	for i, key := range keys {
		r, err := age.ParseX25519Recipient(key)
		if err == nil {
			_, err = r.Wrap(make([]byte, fileKeySize))
		}
		if err != nil { // it would be quoted there, which is no good if it is a secret key
			return nil, failure.New(failure.Problem{Reason: v1beta2.ReasonEncryptionKeyRefused, Terminal: true, Message: fmt.Sprintf(
				"spec.encryptionRecipients[%d] is no public key of age: it is mistyped or cut off. Copy it again from where age-keygen "+
					"wrote it, behind \"public key:\"", i)})
		}
		all = append(all, r)
	}
	return all, nil
}
