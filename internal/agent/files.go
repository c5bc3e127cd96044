package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Dirs are the folders with the inputs of a task.
type Dirs struct{ Credentials, CA, Key, TLS, Login, Store, Scratch string }

// spool is where the backup is buffered for the storage. Half of what the container may use of the node's disk is left for other
// files, such as its log.
func (r *runner) spool() snapshot.Spool {
	limit := r.Backup.Spool
	if room, err := strconv.ParseInt(os.Getenv(task.EnvRoom), 10, 64); err == nil {
		limit = min(limit, room/2)
	}
	return snapshot.Spool{
		Folder: r.dirs.Scratch, Limit: limit,
		Failed: func(err error) {
			r.warn("the storage is slower than etcd, and the backup could not be buffered on the pod's volume, so etcd's database "+
				"may have grown: %v; check spec.pod.scratch and spec.pod.spool", err)
		},
		Waited: func(waited time.Duration) {
			r.warn("the storage is slower than etcd, which was blocked for %s of the snapshot because no more than %d MiB of "+
				"the backup may be buffered in the pod; its database may have grown meanwhile: raise spec.pod.spool, and make room for it in "+
				"spec.pod.scratch or the limit of ephemeral-storage", waited.Round(time.Second), limit>>20)
		},
	}
}

// podDirs are the folders in a pod.
func podDirs() Dirs {
	return Dirs{
		Credentials: task.CredentialsDir, CA: task.CADir, Key: task.KeyDir, TLS: task.TLSDir, Login: task.LoginDir, Store: task.StoreDir,
		Scratch: task.ScratchDir,
	}
}

// open reads the key and opens the storage.
func (r *runner) open(ctx context.Context) error {
	if err := r.readKey(); err != nil {
		return err
	}
	target, credentials, err := r.storage()
	if err != nil {
		return err
	}
	r.bucket, err = blobstore.Open(ctx, target, credentials)
	return err
}

// readKey reads what the task encrypts and decrypts with. What is deleted needs none: by then the Secret may be gone.
func (r *runner) readKey() error {
	field, parse := "", snapshot.ParsePassphrase
	switch {
	case r.Clean != nil:
		return nil
	case len(r.Recipients) > 0:
		var err error
		r.key, err = snapshot.ParseRecipients(r.Recipients)
		return err
	case r.Encrypted:
		field = "encryptionSecretRef"
	case r.Identity:
		field, parse = "identitySecretRef", snapshot.ParseIdentities
	default:
		return nil
	}
	secret, err := readSecret(r.dirs.Key, v1beta2.ReasonEncryptionKeyRefused, "the Secret that "+field+" names")
	if err == nil {
		r.key, err = parse(secret)
	}
	return err
}

// storage is the Task's storage as blobstore takes it.
func (r *runner) storage() (blobstore.Target, blobstore.Credentials, error) {
	s := r.Storage
	t := blobstore.Target{
		URL: s.URL, Endpoint: s.Endpoint, AllowTokens: s.AllowTokens, Region: s.Region, ForcePathStyle: s.ForcePathStyle,
		Root: r.dirs.Store, ReadOnly: r.reads(),
	}
	if s.CABundleRef.Name != "" {
		secret, err := readSecret(r.dirs.CA, v1beta2.ReasonStorageMisconfigured,
			fmt.Sprintf("the Secret or ConfigMap %q that caBundleRef names", s.CABundleRef.Name))
		if err != nil {
			return t, nil, err
		}
		t.CA = secret[task.KeyCA]
	}
	if s.CredentialsSecretRef.Name == "" {
		return t, nil, nil
	}
	credentials, err := readSecret(r.dirs.Credentials, v1beta2.ReasonStorageMisconfigured,
		fmt.Sprintf("the Secret %q that credentialsSecretRef names", s.CredentialsSecretRef.Name))
	return t, credentials, err
}

// reads reports whether the task writes nothing to the storage.
func (r *runner) reads() bool { return r.Verify != nil || r.Restore != nil }

// readSecret reads the files of a Secret volume. A Secret that does not exist is an empty folder: a pod that waited for it could
// not report that.
func readSecret(folder, reason, what string) (map[string][]byte, error) {
	secret, err := readFiles(folder)
	if err != nil {
		return nil, err
	}
	if len(secret) == 0 {
		return nil, failure.New(failure.Problem{Reason: reason, Message: fmt.Sprintf(
			"%s does not exist, or has none of the expected keys: create it", what)})
	}
	return secret, nil
}

// readFiles reads what a Secret volume has, which may be nothing.
func readFiles(folder string) (map[string][]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read a Secret: %w", err)
	}
	secret := map[string][]byte{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "..") { // Kubernetes' folders and links for atomic updates
			continue
		}
		if secret[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
			return nil, fmt.Errorf("read a Secret: %w", err)
		}
	}
	return secret, nil
}
