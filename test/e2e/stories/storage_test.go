package stories

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// Names of Secrets that stories make in their namespace.
const (
	storageCA = "storage-ca"
	keySecret = "key"
)

// minio starts the lab's S3, gives the story its credentials in a Secret of the addon's name, and returns a folder of the bucket for the story alone.
func (s *story) minio() *v1beta2.Storage {
	s.t.Helper()
	addon := s.addon(lab.MinIO)
	s.secret(addon.Name, map[string]string{
		"access-key-id": addon.Env["AWS_ACCESS_KEY_ID"], "secret-access-key": addon.Env["AWS_SECRET_ACCESS_KEY"],
	})
	ca, err := os.ReadFile(addon.CAFile)
	must(s.t, err)
	s.secret(storageCA, map[string]string{"ca.crt": string(ca)})
	return &v1beta2.Storage{
		URL:                  fmt.Sprintf("s3://%s/%s", addon.Bucket, s.folder()),
		CredentialsSecretRef: v1beta2.SecretRef{Name: addon.Name}, CABundleRef: v1beta2.CABundleRef{Name: storageCA}, Endpoint: addon.URL, ForcePathStyle: true,
	}
}

// gcs is the same for Google Cloud Storage, which asks for no credentials here.
func (s *story) gcs() *v1beta2.Storage {
	s.t.Helper()
	addon := s.addon(lab.GCS)
	s.secret(addon.Name, map[string]string{"access-token": "anything"})
	return &v1beta2.Storage{
		URL: fmt.Sprintf("gs://%s/%s", addon.Bucket, s.folder()), CredentialsSecretRef: v1beta2.SecretRef{Name: addon.Name}, Endpoint: addon.URL, AllowTokens: true,
	}
}

// azurite is the same for Azure's blobs.
func (s *story) azurite() *v1beta2.Storage {
	s.t.Helper()
	addon := s.addon(lab.Azurite)
	s.secret(addon.Name, map[string]string{
		"storage-account": addon.Env["AZURE_STORAGE_ACCOUNT"], "storage-key": addon.Env["AZURE_STORAGE_KEY"],
	})
	return &v1beta2.Storage{
		URL: fmt.Sprintf("azblob://%s/%s", addon.Bucket, s.folder()), CredentialsSecretRef: v1beta2.SecretRef{Name: addon.Name}, Endpoint: addon.URL,
	}
}

// volume is a claim for backups.
func (s *story) volume() *v1beta2.Storage {
	s.t.Helper()
	claim, storage := harness.BackupVolume(s.Namespace, "backups")
	must(s.t, env.Create(s.t.Context(), claim))
	return storage
}

// folder is the story's own: addons keep their objects from run to run.
func (s *story) folder() string {
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	return string(object.UID)
}

// starting is held while an addon is started: that takes devices and rules of the machine.
var starting sync.Mutex

func (s *story) addon(name string) lab.Addon {
	s.t.Helper()
	starting.Lock()
	defer starting.Unlock()
	addon, err := nodes.Addons().Start(s.t.Context(), name, testLog{s.t})
	must(s.t, err)
	return addon
}

// withKeys are commands of a document with the addon's keys in the place of those of a storage of the reader's.
func withKeys(addon lab.Addon, commands string) string {
	return strings.NewReplacer("access-key-id=…", "access-key-id="+addon.Env["AWS_ACCESS_KEY_ID"],
		"secret-access-key=…", "secret-access-key="+addon.Env["AWS_SECRET_ACCESS_KEY"]).Replace(commands)
}

// healsAddon undoes whatever is done to an addon, whatever becomes of the story.
func (s *story) healsAddon(name string) {
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.Addons().Heal(ctx, name); err != nil {
			s.t.Error(err)
		}
	})
}

func (s *story) secret(name string, data map[string]string) {
	s.t.Helper()
	must(s.t, env.Create(s.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, StringData: data,
	}))
}

// testLog writes lines to a test's log.
type testLog struct{ t *testing.T }

func (l testLog) Write(line []byte) (int, error) {
	l.t.Logf("%s", line)
	return len(line), nil
}
