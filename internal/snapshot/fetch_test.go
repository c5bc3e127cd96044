package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"filippo.io/age"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestFetchDamaged changes objects after they were written, in ways that no size tells.
func TestFetchDamaged(t *testing.T) {
	for name, e := range encodings(t) {
		for title, change := range map[string]func([]byte) []byte{
			"a bit at the start":  func(d []byte) []byte { d[0] ^= 1; return d },
			"a bit in the middle": func(d []byte) []byte { d[len(d)/2] ^= 1; return d },
			"a bit at the end":    func(d []byte) []byte { d[len(d)-1] ^= 1; return d },
			"cut off":             func(d []byte) []byte { return d[:len(d)/2] },
			"cut off by a byte":   func(d []byte) []byte { return d[:len(d)-1] },
			"cut off by a page":   func(d []byte) []byte { return d[:len(d)-min(512, len(d))] },
			"empty":               func([]byte) []byte { return nil },
			"something behind":    func(d []byte) []byte { return append(d, 0) },
			"twice":               func(d []byte) []byte { return append(d, d...) },
		} {
			t.Run(name+", "+title, func(t *testing.T) {
				b, path := bucket(t)
				content := make([]byte, 1<<20)
				for i := range content {
					content[i] = byte(i * i >> 8)
				}
				m := mustSave(t, b, stream(bytes.NewReader(sealed(content))), job(e))
				object := filepath.Join(path, m.Object)
				data, err := os.ReadFile(object)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(object, change(data), 0o600); err != nil {
					t.Fatal(err)
				}
				err = VerifyChecksum(t.Context(), b, m, e.Key, nil)
				want := []string{v1beta2.ReasonSnapshotDamaged}
				if e.Key != nil { // an object that does not begin like an encrypted one is none
					want = append(want, v1beta2.ReasonEncryptionKeyRefused)
				}
				if !slices.Contains(want, reason(err)) {
					t.Errorf("got %v", err)
				}
				file := filepath.Join(t.TempDir(), "file")
				if _, err := FetchFile(t.Context(), b, m.Object, &m, e.Key, file, nil); err == nil {
					t.Error("it was taken for sound")
				}
				if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("a damaged file was left: %v", err)
				}
			})
		}
	}
}

func TestFetchKeys(t *testing.T) {
	const passphrase = "correct horse battery staple"
	b, _ := bucket(t)
	encrypted := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 1<<20)))), job(Encoding{Key: key(t, passphrase)}))
	plain := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 1<<20)))), job(Encoding{}))
	for title, c := range map[string]struct {
		m    Manifest
		key  *Key
		want string
	}{
		"right":                     {encrypted, key(t, passphrase), ""},
		"as a file":                 {encrypted, key(t, " "+passphrase+"\r\n"), ""},
		"wrong":                     {encrypted, key(t, passphrase+"r"), v1beta2.ReasonEncryptionKeyRefused},
		"none":                      {encrypted, nil, v1beta2.ReasonEncryptionKeyRefused},
		"one, and it is not needed": {plain, key(t, passphrase), v1beta2.ReasonEncryptionKeyRefused},
	} {
		err := VerifyChecksum(t.Context(), b, c.m, c.key, nil)
		if reason(err) != c.want || err != nil && strings.Contains(err.Error(), "horse") {
			t.Errorf("%s: got %v", title, err)
		}
	}
	for _, secret := range []map[string][]byte{nil, {"passphrase": nil}, {"passphrase": []byte("too short      \n")}} {
		if _, err := ParsePassphrase(secret); reason(err) != v1beta2.ReasonEncryptionKeyRefused {
			t.Errorf("%q: got %v", secret, err)
		}
	}
}

// TestAgeReads has the age library alone read an object, as people would with its program.
func TestAgeReads(t *testing.T) {
	b, path := bucket(t)
	whole := sealed(make([]byte, 1<<20))
	m := mustSave(t, b, stream(bytes.NewReader(whole)), job(Encoding{Key: key(t, "correct horse battery staple")}))
	file, err := os.Open(filepath.Join(path, m.Object))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	identity, err := age.NewScryptIdentity("correct horse battery staple")
	if err != nil {
		t.Fatal(err)
	}
	r, err := age.Decrypt(file, identity)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

// TestFetchForeign reads objects that others wrote.
func TestFetchForeign(t *testing.T) {
	b, path := bucket(t)
	whole := sealed(bytes.Repeat([]byte{1}, 1<<20))
	mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{})) // makes the folder
	for title, c := range map[string]struct {
		data []byte
		want string
	}{
		"etcdctl's": {whole, ""},
		"a member's own file, which has no checksum": {whole[:1<<20], v1beta2.ReasonSnapshotDamaged},
		"something else": {[]byte("hello"), v1beta2.ReasonSnapshotDamaged},
	} {
		if err := os.WriteFile(filepath.Join(path, "object"), c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, found, err := Find(t.Context(), b, "object"); found || err != nil {
			t.Errorf("%s: a manifest was found, %v", title, err)
		}
		var got bytes.Buffer
		m, err := fetchForeign(t.Context(), b, "object", nil, &got, nil)
		if reason(err) != c.want || err == nil && !bytes.Equal(got.Bytes(), c.data) {
			t.Errorf("%s: got %v", title, err)
		}
		sum := sha256.Sum256(c.data)
		if err == nil && (m.Size != int64(len(c.data)) || m.StoredSize != m.Size || m.StoredSHA256 != hex.EncodeToString(sum[:])) {
			t.Errorf("%s: got %+v", title, m)
		}
	}
	if _, err := fetchForeign(t.Context(), b, "nothing", nil, io.Discard, nil); reason(err) != v1beta2.ReasonNoSuchObject {
		t.Errorf("got %v", err)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, &os.PathError{Op: "write", Err: syscall.ENOSPC} }

// TestFetchFails tells failures of the disk and the storage from damage.
func TestFetchFails(t *testing.T) {
	for name, e := range encodings(t) {
		t.Run(name, func(t *testing.T) {
			b, path := bucket(t)
			m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 1<<20)))), job(e))
			if err := fetchOwn(t.Context(), b, m, e.Key, full{}, nil); reason(err) != v1beta2.ReasonScratchFailed {
				t.Errorf("no room: got %v", err)
			}
			if err := os.Remove(filepath.Join(path, m.Object)); err != nil {
				t.Fatal(err)
			}
			if err := fetchOwn(t.Context(), b, m, e.Key, io.Discard, nil); reason(err) != v1beta2.ReasonNoSuchObject {
				t.Errorf("gone: got %v", err)
			}
		})
	}
}

// TestFetchBomb has an object that is small and would fill the disk.
func TestFetchBomb(t *testing.T) {
	b, _ := bucket(t)
	m := mustSave(t, b, stream(io.LimitReader(bytes.NewReader(sealed(make([]byte, 8<<20))), 9<<20)), job(Encoding{Compress: true}))
	m.Size = 1 << 20
	var got bytes.Buffer
	if err := fetchOwn(t.Context(), b, m, nil, &got, nil); reason(err) != v1beta2.ReasonSnapshotDamaged || got.Len() > 1<<20+1 {
		t.Errorf("wrote %d bytes, %v", got.Len(), err)
	}
}
