package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Manifest describes a snapshot. It is stored next to the object, as JSON.
type Manifest struct {
	// Object is the name of the object.
	Object string `json:"object"`
	// TakenAt is when the snapshot was started, in UTC.
	TakenAt time.Time `json:"takenAt"`
	// Cluster is the EtcdCluster that it is of; it has only an ID if it was not an EtcdCluster.
	Cluster task.Cluster `json:"cluster"`
	// Member is where it was taken.
	Member Member `json:"member"`
	// Stale is true if that member had no quorum, so that the cluster may have later writes, or if it had a lower revision than the
	// cluster once had.
	Stale bool `json:"stale,omitempty"`
	// SetBack is true if it is stale although the member had quorum: the cluster has a lower revision than it once had, and may
	// continue from there.
	SetBack bool `json:"setBack,omitempty"`
	// Revision is etcd's when the snapshot was started. Later writes may be in it, too.
	Revision int64 `json:"revision"`
	// Keys is how many there were at that revision.
	Keys int64 `json:"keys"`
	// EtcdVersion is the version of the server, major.minor.patch.
	EtcdVersion string `json:"etcdVersion"`
	// StorageVersion is the version of the data's schema, major.minor.0, empty before etcd 3.6 and in a cluster's first
	// seconds.
	StorageVersion string `json:"storageVersion,omitempty"`
	// Size is that of the snapshot as etcd sent it, its checksum included, and SHA256 that in hexadecimal.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// StoredSize is that of the object, and StoredSHA256 that in hexadecimal.
	StoredSize   int64  `json:"storedSize"`
	StoredSHA256 string `json:"storedSHA256"`
	// Compression is Zstd or None, Encryption Age (a passphrase), AgeRecipients or None.
	Compression string `json:"compression"`
	Encryption  string `json:"encryption"`
	// Recipients are the public keys that it is encrypted to, in their order: the identity of one of them decrypts it.
	Recipients Recipients `json:"recipients,omitempty"`
	// Writer is the Kubernetes object that it was taken for.
	Writer task.Writer `json:"writer"`
	// Run identifies the writer's run that it was taken in. The next attempt of that run continues with it.
	Run string `json:"run,omitempty"`
}

// Recipients are public keys of age in their order, with a space between two. In JSON they are a list; here manifests can be compared.
type Recipients string

// MarshalJSON writes a list.
func (r Recipients) MarshalJSON() ([]byte, error) { return json.Marshal(strings.Fields(string(r))) }

// UnmarshalJSON reads a list.
func (r *Recipients) UnmarshalJSON(data []byte) error {
	var all []string
	err := json.Unmarshal(data, &all)
	*r = Recipients(strings.Join(all, " "))
	return err
}

// Member names a member.
type Member struct {
	// ID is etcd's, in hexadecimal.
	ID string `json:"id"`
	// Endpoint is its client URL.
	Endpoint string `json:"endpoint"`
}

// format identifies a manifest among other JSON, and its version.
const format = "etcd-operator/snapshot/v1"

// envelope is what is written: a checksum reveals a damaged manifest.
type envelope struct {
	Format   string          `json:"format"`
	SHA256   string          `json:"sha256"`
	Manifest json.RawMessage `json:"manifest"`
}

var (
	errForeign = errors.New("it is JSON of another program")
	errNewer   = errors.New("it was written by a newer version of this operator")
)

func (m Manifest) encode() ([]byte, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the manifest of %s: %w", m.Object, err)
	}
	sum := sha256.Sum256(data)
	return json.MarshalIndent(envelope{Format: format, SHA256: hex.EncodeToString(sum[:]), Manifest: data}, "", "  ")
}

// decodeManifest returns errForeign or errNewer for JSON that must not be changed.
func decodeManifest(data []byte) (Manifest, error) {
	var (
		e       envelope
		m       Manifest
		compact bytes.Buffer
	)
	if err := json.Unmarshal(data, &e); err != nil {
		return m, fmt.Errorf("it is not JSON: %w", err)
	}
	const known = len(format) - len("1")
	switch {
	case e.Format == format:
	case len(e.Format) >= known && e.Format[:known] == format[:known]:
		return m, errNewer
	default:
		return m, errForeign
	}
	if err := json.Compact(&compact, e.Manifest); err != nil {
		return m, fmt.Errorf("it is not JSON: %w", err)
	}
	if sum := sha256.Sum256(compact.Bytes()); hex.EncodeToString(sum[:]) != e.SHA256 {
		return m, errors.New("its checksum does not match")
	}
	if err := json.Unmarshal(e.Manifest, &m); err != nil {
		return m, fmt.Errorf("it cannot be read: %w", err)
	}
	if !m.possible() {
		return Manifest{}, errors.New("its content is invalid")
	}
	return m, nil
}

// possible reports whether the numbers are plausible and valid in status: Kubernetes accepts no time beyond the year 9999, which a
// time in another zone can be. One invalid value would make the API server reject the whole status.
func (m Manifest) possible() bool {
	year := m.TakenAt.UTC().Year()
	return 0 < year && year <= 9999 && 0 <= m.Revision && m.Revision <= revisionLimit && 0 <= m.Size && 0 <= m.StoredSize
}
