package snapshot

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const phrase = "correct horse battery staple"

// pair is a new identity, as a Secret has it, and its recipient.
func pair(t testing.TB) (secret map[string][]byte, public string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	public = identity.Recipient().String()
	// This is what age-keygen writes.
	file := "# created: 2026-01-02T03:04:05Z\n# public key: " + public + "\n" + identity.String() + "\n"
	return map[string][]byte{"identity": []byte(file)}, public
}

func recipients(t testing.TB, public ...string) *Key {
	t.Helper()
	k, err := ParseRecipients(public)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func identities(t testing.TB, secrets ...map[string][]byte) *Key {
	t.Helper()
	var file []byte
	for _, s := range secrets {
		file = append(append(file, s["identity"]...), "\r\n"...)
	}
	k, err := ParseIdentities(map[string][]byte{"identity": file})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestFetchRecipients reads what was encrypted to public keys, with a passphrase and not at all, each with every kind of key: what does
// not fit says which field does.
func TestFetchRecipients(t *testing.T) {
	b, _ := bucket(t)
	one, first := pair(t)
	two, second := pair(t)
	three, _ := pair(t)
	n := int64(0)
	save := func(k *Key) Manifest {
		t.Helper()
		e := Encoding{Compress: true, Key: k}
		j := job(e)
		n++
		j.Name = func(s *Stream) string { return Name(n, s.TakenAt, uid, e) }
		return mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 1<<20)))), j)
	}
	to, spoken, plain := save(recipients(t, second, first)), save(key(t, phrase)), save(nil)
	own := save(identities(t, one)) // as a safety snapshot is, beside what an identity has decrypted
	if !strings.HasSuffix(to.Object, ".db.zst.age") || to.Encryption != EncryptionAgeRecipients || own.Encryption != EncryptionAgeRecipients ||
		spoken.Encryption != EncryptionAge || spoken.Recipients != "" {
		t.Errorf("manifests %+v, %+v, %+v", to, own, spoken)
	}
	for title, c := range map[string]struct {
		m    Manifest
		key  *Key
		want string
	}{
		"the first one's":        {to, identities(t, one), ""},
		"the second one's":       {to, identities(t, two), ""},
		"one of several":         {to, identities(t, three, two), ""},
		"its own":                {own, identities(t, one), ""},
		"somebody else's":        {to, identities(t, three), "wrong identity"},
		"not among its own":      {own, identities(t, two, three), "wrong identity"},
		"nothing for it":         {to, nil, "set identitySecretRef"},
		"a passphrase for it":    {to, key(t, phrase), "set identitySecretRef"},
		"who has written it":     {to, recipients(t, first, second), "set identitySecretRef"},
		"for a passphrase":       {spoken, identities(t, one), "set encryptionSecretRef"},
		"nothing for that":       {spoken, nil, "set encryptionSecretRef"},
		"where it is not needed": {plain, identities(t, one), "although identitySecretRef is set"},
		"not the passphrase":     {spoken, key(t, phrase+"r"), "wrong passphrase"},
	} {
		err := VerifyChecksum(t.Context(), b, c.m, c.key, nil)
		if c.want == "" && err == nil {
			continue
		}
		if reason(err) != v1beta2.ReasonEncryptionKeyRefused || !strings.Contains(err.Error(), c.want) || !Explain(err).Terminal ||
			strings.Contains(err.Error(), "AGE-SECRET") {
			t.Errorf("%s: got %v", title, err)
		}
		if c.m == to && !(strings.Contains(err.Error(), first) && strings.Contains(err.Error(), second)) {
			t.Errorf("%s: it does not say whose it is: %v", title, err)
		}
	}
}

// TestFetchHeader tells an object whose header is damaged from one that is for somebody else.
func TestFetchHeader(t *testing.T) {
	b, path := bucket(t)
	secret, public := pair(t)
	m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{Key: recipients(t, public)}))
	data, err := os.ReadFile(filepath.Join(path, m.Object))
	if err != nil {
		t.Fatal(err)
	}
	header := bytes.SplitN(data, []byte("\n"), 4) // version, stanza, the file key encrypted to the recipient
	if key := header[2]; key[9] == 'A' {
		key[9] = 'B'
	} else {
		key[9] = 'A'
	}
	if err := os.WriteFile(filepath.Join(path, m.Object), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := VerifyChecksum(t.Context(), b, m, identities(t, secret), nil); reason(err) != v1beta2.ReasonSnapshotDamaged {
		t.Errorf("got %v", err)
	}
	other, _ := pair(t)
	if err := VerifyChecksum(t.Context(), b, m, identities(t, other), nil); reason(err) != v1beta2.ReasonEncryptionKeyRefused {
		t.Errorf("for somebody else: got %v", err)
	}
}

// TestVerifyCiphertext finds what is not as it was uploaded, without any key.
func TestVerifyCiphertext(t *testing.T) {
	_, public := pair(t)
	for title, c := range map[string]struct {
		change func([]byte) []byte
		want   string
	}{
		"sound":             {func(d []byte) []byte { return d }, ""},
		"a bit":             {func(d []byte) []byte { d[len(d)/2] ^= 1; return d }, v1beta2.ReasonSnapshotDamaged},
		"cut off by a byte": {func(d []byte) []byte { return d[:len(d)-1] }, v1beta2.ReasonSnapshotDamaged},
		"a byte behind":     {func(d []byte) []byte { return append(d, 0) }, v1beta2.ReasonSnapshotDamaged},
		"empty":             {func([]byte) []byte { return nil }, v1beta2.ReasonSnapshotDamaged},
	} {
		b, path := bucket(t)
		m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 1<<20)))), job(Encoding{Key: recipients(t, public)}))
		data, err := os.ReadFile(filepath.Join(path, m.Object))
		if err == nil {
			err = os.WriteFile(filepath.Join(path, m.Object), c.change(data), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		var read int64
		if err := VerifyCiphertext(t.Context(), b, m, func(n int64) { read = n }); reason(err) != c.want {
			t.Errorf("%s: got %v", title, err)
		}
		if c.want == "" && read != m.StoredSize {
			t.Errorf("it has read %d bytes of %d", read, m.StoredSize)
		}
	}
	b, _ := bucket(t)
	m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{Key: recipients(t, public)}))
	m.Object = "nothing"
	if err := VerifyCiphertext(t.Context(), b, m, nil); reason(err) != v1beta2.ReasonNoSuchObject {
		t.Errorf("got %v", err)
	}
}

// TestAgeReadsRecipients has the age library alone read an object with either identity.
func TestAgeReadsRecipients(t *testing.T) {
	b, path := bucket(t)
	whole := sealed(make([]byte, 1<<20))
	one, first := pair(t)
	two, second := pair(t)
	m := mustSave(t, b, stream(bytes.NewReader(whole)), job(Encoding{Key: recipients(t, first, second)}))
	for _, secret := range []map[string][]byte{one, two} {
		data, err := os.ReadFile(filepath.Join(path, m.Object))
		if err != nil {
			t.Fatal(err)
		}
		all, err := age.ParseIdentities(bytes.NewReader(secret["identity"]))
		if err != nil {
			t.Fatal(err)
		}
		r, err := age.Decrypt(bytes.NewReader(data), all...)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
	}
}

// TestParseIdentities reads files as people have them, and quotes nothing of those that are no good.
func TestParseIdentities(t *testing.T) {
	one, first := pair(t)
	two, second := pair(t)
	k := identities(t, two, one, two)
	if want := []string{first, second}; len(k.to) != 2 || len(k.recipients) != 2 || !slices.IsSorted(k.recipients) ||
		!slices.Contains(want, k.recipients[0]) || !slices.Contains(want, k.recipients[1]) || !k.Reads() {
		t.Errorf("read %v", k.recipients)
	}
	line := strings.Split(string(one["identity"]), "\n")[2]
	wrong := []byte(line)
	if wrong[30] = 'Q'; line[30] == 'Q' {
		wrong[30] = 'P'
	}
	for title, c := range map[string]struct{ file, want string }{
		"none":               {"", "there is none"},
		"comments only":      {"# public key: " + first + "\n\n", "there is none"},
		"mistyped":           {"# a comment\n\n" + string(wrong), "line 3 of it"},
		"cut off":            {line[:60], "line 1 of it"},
		"two on a line":      {line + " " + line, "line 1 of it"},
		"the public key":     {first, "line 1 of it"},
		"post-quantum":       {"AGE-SECRET-KEY-PQ-1" + line[16:], "line 1 of it"},
		"encrypted":          {"age-encryption.org/v1\n-> scrypt x 18\n", "line 1 of it"},
		"one, and something": {line + "\nhello", "line 2 of it"},
	} {
		_, err := ParseIdentities(map[string][]byte{"identity": []byte(c.file)})
		if reason(err) != v1beta2.ReasonEncryptionKeyRefused || !strings.Contains(err.Error(), c.want) || !Explain(err).Terminal {
			t.Errorf("%s: got %v", title, err)
			continue
		}
		for from := 16; from+8 <= len(line); from++ {
			if strings.Contains(err.Error(), line[from:from+8]) {
				t.Errorf("%s: it quotes the key: %v", title, err)
			}
		}
	}
}

// TestMade tells objects that were encrypted to others from those that the present spec asks for.
func TestMade(t *testing.T) {
	_, first := pair(t)
	_, second := pair(t)
	b, path := bucket(t)
	m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{Key: recipients(t, first, second)}))
	for title, c := range map[string]struct {
		key  *Key
		want bool
	}{
		"the same, in another order": {recipients(t, second, first), true},
		"fewer":                      {recipients(t, first), false},
		"none":                       {nil, false},
		"a passphrase":               {key(t, phrase), false},
	} {
		if got := (Encoding{Key: c.key}).Made(m); got != c.want {
			t.Errorf("%s: %t", title, got)
		}
	}
	found := list(t, b).Snapshots
	if len(found) != 1 || found[0] != m {
		t.Fatalf("listed %+v, want %+v", found, m)
	}
	var written struct{ Manifest struct{ Recipients []string } }
	data, err := os.ReadFile(filepath.Join(path, m.Object+extensionManifest))
	if err == nil {
		err = json.Unmarshal(data, &written)
	}
	if got := written.Manifest.Recipients; err != nil || len(got) != 2 || !slices.Contains(got, first) || !slices.Contains(got, second) {
		t.Errorf("the manifest names %v, %v", got, err)
	}
}

// TestFormerManifest reads a manifest from before there were recipients, as it was written then.
func TestFormerManifest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "former-manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := decodeManifest(text)
	if err != nil || m.Encryption != EncryptionAge || m.Recipients != "" || !(Encoding{Compress: true, Key: key(t, phrase)}).Made(m) {
		t.Errorf("read %+v, %v", m, err)
	}
	if again, err := m.encode(); err != nil || !bytes.Equal(bytes.TrimSpace(text), again) {
		t.Errorf("it would be written as %s, %v", again, err)
	}
}
