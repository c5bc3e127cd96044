package objectstore

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// keys are a store's own secrets.
type keys struct {
	// Admin is the administrator's.
	Admin string `json:"admin"`
	// Client is that of the one client.
	Client string `json:"client"`
}

// keyBytes of hexadecimal are 40 characters: as long as MinIO's keys may be at most, and Azure's keys, which are
// base64, may be at all, for which the number must be a multiple of 4.
const keyBytes = 20

// ensureKeys reads a store's keys from a file, or makes them.
func ensureKeys(file string) (keys, error) {
	data, err := os.ReadFile(file) // #nosec G304 -- below the lab's state folder
	if err == nil {
		var known keys
		if err := json.Unmarshal(data, &known); err != nil {
			return keys{}, fmt.Errorf("decode a store's keys (%s): %w", file, err)
		}
		return known, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return keys{}, fmt.Errorf("read a store's keys: %w", err)
	}
	fresh := keys{Admin: newKey(), Client: newKey()}
	if data, err = json.Marshal(fresh); err != nil { // #nosec G117 -- the file is for no one else's eyes
		return keys{}, fmt.Errorf("encode a store's keys: %w", err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return keys{}, fmt.Errorf("write a store's keys: %w", err)
	}
	return fresh, nil
}

func newKey() string {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // Never fails: crypto/rand ends the program instead.
	return hex.EncodeToString(key)
}
