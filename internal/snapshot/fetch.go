package snapshot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// fetchOwn reads the whole object of a backup, decrypts and decompresses it, and writes it to w as etcd sent it. The data can be trusted
// only if fetchOwn returns nil: the checksums are compared last.
func fetchOwn(ctx context.Context, b *blobstore.Bucket, m Manifest, key *Key, w io.Writer, p Progress) error {
	found, err := fetch(ctx, b, m.Object, key, w, p, m.Size)
	switch {
	case errors.Is(err, age.ErrIncorrectIdentity) && key.among(m.Recipients):
		return damaged("%s is damaged: its manifest names the recipient of the identity that does not decrypt it", b.URL(m.Object))
	case isKeyRefused(err) && m.Recipients != "":
		return fmt.Errorf("%w. By its manifest it is encrypted to %s", err, brief(strings.Fields(string(m.Recipients))))
	case err != nil:
		return err
	case found.StoredSize != m.StoredSize || found.StoredSHA256 != m.StoredSHA256:
		return corrupt(b, m)
	case found.Size != m.Size || found.SHA256 != m.SHA256:
		return damaged("%s does not match its manifest: the checksums differ", b.URL(m.Object))
	}
	return nil
}

// fetchForeign is fetchOwn for an object without a manifest, such as one of coreos/etcd-operator or etcdctl, of which only the checksum
// that etcd has appended can be verified. It returns a manifest with nothing but the name, the sizes and the checksums.
func fetchForeign(
	ctx context.Context, b *blobstore.Bucket, object string, key *Key, w io.Writer, p Progress,
) (Manifest, error) {
	return fetch(ctx, b, object, key, w, p, maxSize)
}

// maxSize is the maximum size of a snapshot without a manifest, in bytes: far more than etcd can hold.
const maxSize = 1 << 40

// fetch returns a manifest with no more than the name, the sizes and the checksums.
func fetch(
	ctx context.Context, b *blobstore.Bucket, object string, key *Key, w io.Writer, p Progress, size int64,
) (Manifest, error) {
	watched, touch, stop := watch(ctx, stallLimit)
	defer stop()
	r, err := b.Open(watched, object)
	if err != nil {
		return Manifest{}, stalled(watched, err)
	}
	defer func() { _ = r.Close() }()
	found, err := unpack(&tracked{Reader: r, touch: touch}, key, w, p, size)
	if err != nil {
		return Manifest{}, stalled(watched, explainRead(b.URL(object), err))
	}
	found.Object = object
	return found, nil
}

// unpack writes no more than size bytes: a small object could otherwise fill the disk.
func unpack(from io.Reader, key *Key, w io.Writer, p Progress, size int64) (Manifest, error) {
	raw := newDigest()
	object := bufio.NewReader(from)
	source := io.Reader(object)
	var stored *meter
	if !isPlain(object) {
		stored = newMeter()
		source = io.TeeReader(object, stored)
	}
	plain, done, err := decode(source, key)
	if err != nil {
		return Manifest{}, err
	}
	defer done()
	limited := &tracked{Reader: io.LimitReader(plain, size+1), touch: func() {}, progress: p}
	if err := pump(&output{w}, limited, raw); err != nil {
		return Manifest{}, err
	}
	if limited.bytes > size {
		return Manifest{}, damaged("it is larger than the expected %d bytes", size)
	}
	// What follows the end of the compression or encryption counts for the checksum, too.
	if _, err := io.Copy(io.Discard, source); err != nil {
		return Manifest{}, err
	}
	if err := raw.check(); err != nil {
		return Manifest{}, err
	}
	m := Manifest{}
	m.sumUp(raw, stored)
	return m, nil
}

// output distinguishes errors of the destination of a snapshot from those of its source.
type output struct{ io.Writer }

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		err = scratchError("write the snapshot", err)
	}
	return n, err
}

// explainRead blames the object for every error that is neither the storage's nor the disk's.
func explainRead(where string, err error) error {
	if _, known := failure.Of(err); known {
		return err
	}
	return damaged("%s is damaged: %w", where, err)
}

// FetchFile is fetchOwn, or fetchForeign if the manifest is nil, into a file, which exists afterwards only if it is intact. The file is
// not synced: it is meant to be read next, not to survive a power failure.
func FetchFile(
	ctx context.Context, b *blobstore.Bucket, object string, m *Manifest, key *Key, path string, p Progress,
) (found Manifest, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return Manifest{}, scratchError("create the file", err)
	}
	if m != nil {
		found, err = *m, fetchOwn(ctx, b, *m, key, file, p)
	} else {
		found, err = fetchForeign(ctx, b, object, key, file, p)
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return found, err
}

func scratchError(what string, err error) error {
	return failure.Because(err, failure.Problem{
		Reason:  v1beta2.ReasonScratchFailed,
		Message: "cannot " + what + ": " + err.Error() + "; check that the pod's volume is large enough",
	})
}
