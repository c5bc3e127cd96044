package snapshot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Encoding says how a snapshot is encoded into an object. The zero value changes nothing.
type Encoding struct {
	// Compress with zstd.
	Compress bool
	// Key to encrypt with, nil for none.
	Key *Key
}

// Values of a manifest's Compression and Encryption: Age is with a passphrase, AgeRecipients to public keys.
const (
	CompressionZstd         = "Zstd"
	EncryptionAge           = "Age"
	EncryptionAgeRecipients = "AgeRecipients"
	None                    = "None"
)

func (e Encoding) compression() string {
	if e.Compress {
		return CompressionZstd
	}
	return None
}

func (e Encoding) encryption() string {
	switch {
	case e.Key == nil:
		return None
	case e.Key.passphrase():
		return EncryptionAge
	}
	return EncryptionAgeRecipients
}

// recipients are the public keys that it is encrypted to, in their order.
func (e Encoding) recipients() Recipients {
	if e.Key == nil {
		return ""
	}
	return Recipients(strings.Join(e.Key.recipients, " "))
}

// Made reports whether an object was encoded in this way. A passphrase is unknown.
func (e Encoding) Made(m Manifest) bool {
	return m.Compression == e.compression() && m.Encryption == e.encryption() && m.Recipients == e.recipients()
}

// extension is the end of an object's name: the encodings in the order in which they were applied.
func (e Encoding) extension() string {
	extension := extensionPlain
	if e.Compress {
		extension += ".zst"
	}
	if e.Key != nil {
		extension += ".age"
	}
	return extension
}

// What the two formats begin with. With a passphrase, age's header has one stanza, which says so (age-encryption.org/v1).
const (
	zstdMagic       = "\x28\xb5\x2f\xfd"
	ageMagic        = "age-encryption.org/v1\n"
	passphraseMagic = ageMagic + "-> scrypt "
)

// maxWindow limits the memory for reading an object, in bytes. What this package writes needs 8 MiB.
const maxWindow = 32 << 20

// encoder is a chain of writers, which are closed from the first to the last.
type encoder struct {
	io.Writer
	closers []io.Closer
}

// Close flushes. It does not close the writer that was passed to encode.
func (e *encoder) Close() error {
	for _, c := range e.closers {
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (e Encoding) encode(w io.Writer) (*encoder, error) {
	chain := &encoder{Writer: w}
	if e.Key != nil {
		encrypted, err := age.Encrypt(chain.Writer, e.Key.to...)
		if err != nil {
			return nil, fmt.Errorf("start encryption: %w", err)
		}
		chain.Writer, chain.closers = encrypted, []io.Closer{encrypted}
	}
	if e.Compress {
		// One at a time: the pod that does this shares its node with etcd.
		compressed, err := zstd.NewWriter(chain.Writer, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, fmt.Errorf("start compression: %w", err)
		}
		chain.Writer, chain.closers = compressed, append([]io.Closer{compressed}, chain.closers...)
	}
	return chain, nil
}

// decode detects the encoding by the first bytes of the object, so that objects without a manifest can be read, too. Done releases
// its resources.
func decode(r io.Reader, key *Key) (plain io.Reader, done func(), err error) {
	done = func() {}
	buffered := bufio.NewReader(r)
	encrypted := begins(buffered, ageMagic)
	if why := key.unfit(encrypted, begins(buffered, passphraseMagic)); why != "" {
		return nil, nil, keyError(why, nil)
	}
	if encrypted {
		decrypted, err := age.Decrypt(buffered, key.from...)
		if err != nil {
			return nil, nil, decryptError(key, err)
		}
		buffered = bufio.NewReader(decrypted)
	}
	if !begins(buffered, zstdMagic) {
		return buffered, done, nil
	}
	decompressed, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, damaged("start decompression: %w", err)
	}
	return decompressed, decompressed.Close, nil
}

// isPlain reports whether decode has nothing to undo.
func isPlain(r *bufio.Reader) bool { return !begins(r, ageMagic) && !begins(r, zstdMagic) }

// begins reports whether the magic comes next. A reader that fails will fail again when it is read.
func begins(r *bufio.Reader, magic string) bool {
	start, _ := r.Peek(len(magic))
	return string(start) == magic
}

func keyError(message string, cause error) error {
	return failure.Because(cause, failure.Problem{Reason: v1beta2.ReasonEncryptionKeyRefused, Message: message, Terminal: true})
}

func decryptError(key *Key, err error) error {
	var other *age.NoIdentityMatchError
	if _, known := failure.Of(err); known {
		return err
	}
	if errors.As(err, &other) {
		return keyError(key.refused(), err)
	}
	return damaged("it cannot be decrypted: %w", err)
}
