// Package passwords tells whether a Secret still holds the password that it held.
package passwords

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Memory knows, for each object, which password a version of its Secret held. It holds digests by a key that is made anew in each process
// and never leaves it, so that they are of no use elsewhere. The zero value is ready to use.
type Memory struct {
	mu     sync.Mutex
	key    []byte
	latest map[types.NamespacedName]known
}

type known struct {
	version string
	digest  [sha256.Size]byte
}

// Hold remembers which password that version holds, in place of any other version.
func (m *Memory) Hold(object types.NamespacedName, version, password string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.latest == nil {
		m.key, m.latest = []byte(rand.Text()+rand.Text()), map[types.NamespacedName]known{}
	}
	m.latest[object] = known{version, m.digest(password)}
}

// Held reports whether that version is known to have held this very password.
func (m *Memory) Held(object types.NamespacedName, version, password string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, found := m.latest[object]
	digest := m.digest(password)
	return found && last.version == version && hmac.Equal(last.digest[:], digest[:])
}

// Forget forgets an object: call it before another password is sent to etcd, which may have it afterwards whatever the answer is.
func (m *Memory) Forget(object types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.latest, object)
}

func (m *Memory) digest(password string) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, m.key)
	_, _ = h.Write([]byte(password)) // it never fails
	h.Sum(sum[:0])
	return sum
}
