package storetest

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// MinIO is a server of S3's protocol with one bucket.
type MinIO struct {
	// Target is the bucket, without a folder.
	Target blobstore.Target
	// Credentials may do everything.
	Credentials blobstore.Credentials
	// Client is for what the package under test does not do.
	Client *s3.Client

	address, programs, home string
	web                     *http.Client
}

// Bucket is the name of the only bucket.
const Bucket = "backups"

// Who may do everything.
const (
	adminID  = "administrator"
	adminKey = "0123456789-administrator" // #nosec G101 -- of a server that lives as long as a test
)

// StartMinIO runs a server until the test ends. The program comes from TEST_ASSET_MINIO, with its command-line client mc
// beside it, which `make test-unit` sets; without it the test fails.
func StartMinIO(t testing.TB) *MinIO {
	t.Helper()
	program := asset(t, "TEST_ASSET_MINIO")
	certs := t.TempDir()
	ca := writeCertificate(t, certs)
	m := &MinIO{address: FreeAddress(t), programs: filepath.Dir(program), home: t.TempDir(), web: trusting(t, ca)}
	m.Target = blobstore.Target{URL: "s3://" + Bucket, Endpoint: "https://" + m.address, CA: ca, ForcePathStyle: true}
	m.Credentials = blobstore.Credentials{"access-key-id": []byte(adminID), "secret-access-key": []byte(adminKey)}
	m.Client = s3.New(s3.Options{
		BaseEndpoint: aws.String(m.Target.Endpoint), UsePathStyle: true, Region: "us-east-1", HTTPClient: m.web,
		Credentials: credentials.NewStaticCredentialsProvider(adminID, adminKey, ""),
	})
	run(t, []string{
		"MINIO_ROOT_USER=" + adminID, "MINIO_ROOT_PASSWORD=" + adminKey, "MINIO_BROWSER=off", "MINIO_UPDATE=off", "HOME=" + m.home,
	}, program, "server", "--quiet", "--address="+m.address, "--certs-dir="+certs, t.TempDir())
	waitReady(t, m.web, m.Target.Endpoint+"/minio/health/ready")
	if _, err := m.Client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(Bucket)}); err != nil {
		t.Fatalf("create the bucket: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(m.home, "certs", "CAs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.home, "certs", "CAs", "ca.crt"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// User makes a user who may do these actions, such as s3:GetObject, with the bucket.
func (m *MinIO) User(t testing.TB, name string, actions ...string) blobstore.Credentials {
	t.Helper()
	return m.user(t, name, `{"Effect":"Allow","Action":["`+strings.Join(actions, `","`)+
		`"],"Resource":["arn:aws:s3:::`+Bucket+`","arn:aws:s3:::`+Bucket+`/*"]}`)
}

// UserExcept makes a user who may do everything but write objects whose names end so.
func (m *MinIO) UserExcept(t testing.TB, name, suffix string) blobstore.Credentials {
	t.Helper()
	return m.user(t, name, `{"Effect":"Allow","Action":["s3:*"],"Resource":["arn:aws:s3:::*"]},`+
		`{"Effect":"Deny","Action":["s3:PutObject"],"Resource":["arn:aws:s3:::`+Bucket+`/*`+suffix+`"]}`)
}

// UserHeld makes a user who may do everything but delete objects whose names end so.
func (m *MinIO) UserHeld(t testing.TB, name, suffix string) blobstore.Credentials {
	t.Helper()
	return m.user(t, name, `{"Effect":"Allow","Action":["s3:*"],"Resource":["arn:aws:s3:::*"]},`+
		`{"Effect":"Deny","Action":["s3:DeleteObject"],"Resource":["arn:aws:s3:::`+Bucket+`/*`+suffix+`"]}`)
}

// UserBlind makes a user who may do everything but read objects whose names end so.
func (m *MinIO) UserBlind(t testing.TB, name, suffix string) blobstore.Credentials {
	t.Helper()
	return m.user(t, name, `{"Effect":"Allow","Action":["s3:*"],"Resource":["arn:aws:s3:::*"]},`+
		`{"Effect":"Deny","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::`+Bucket+`/*`+suffix+`"]}`)
}

func (m *MinIO) user(t testing.TB, name, statements string) blobstore.Credentials {
	t.Helper()
	key := name + "-0123456789"
	policy := filepath.Join(t.TempDir(), "policy.json")
	text := `{"Version":"2012-10-17","Statement":[` + statements + `]}`
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"user", "add", "test", name, key},
		{"policy", "create", "test", name, policy},
		{"policy", "attach", "test", name, "--user=" + name},
	} {
		m.command(t, append([]string{"admin"}, args...)...)
	}
	return blobstore.Credentials{"access-key-id": []byte(name), "secret-access-key": []byte(key)}
}

// Quota limits the bucket to a size such as 1KiB until lift is called.
func (m *MinIO) Quota(t testing.TB, size string) (lift func()) {
	t.Helper()
	m.command(t, "quota", "set", "test/"+Bucket, "--size", size)
	return func() { m.command(t, "quota", "clear", "test/"+Bucket) }
}

// Locked makes another bucket, in which no version of an object can be deleted for a day, not even by who may do everything.
func (m *MinIO) Locked(t testing.TB) blobstore.Target {
	t.Helper()
	const name = "locked"
	_, err := m.Client.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: aws.String(name), ObjectLockEnabledForBucket: aws.Bool(true),
	})
	if err == nil {
		_, err = m.Client.PutObjectLockConfiguration(t.Context(), &s3.PutObjectLockConfigurationInput{
			Bucket: aws.String(name), ObjectLockConfiguration: &types.ObjectLockConfiguration{
				ObjectLockEnabled: types.ObjectLockEnabledEnabled,
				Rule: &types.ObjectLockRule{DefaultRetention: &types.DefaultRetention{
					Mode: types.ObjectLockRetentionModeCompliance, Days: aws.Int32(1),
				}},
			},
		})
	}
	if err != nil {
		t.Fatalf("create a bucket with a lock: %v", err)
	}
	target := m.Target
	target.URL = "s3://" + name
	return target
}

func (m *MinIO) command(t testing.TB, args ...string) {
	t.Helper()
	client := exec.CommandContext(t.Context(), filepath.Join(m.programs, "mc"), append([]string{"--config-dir", m.home}, args...)...)
	client.Env = []string{"MC_HOST_test=https://" + adminID + ":" + adminKey + "@" + m.address, "HOME=" + m.home}
	if out, err := client.CombinedOutput(); err != nil {
		t.Fatalf("mc %s: %v: %s", args[0], err, out)
	}
}

// Uploads is how many uploads of objects whose names begin so were begun and neither finished nor aborted.
func (m *MinIO) Uploads(t testing.TB, prefix string) int {
	t.Helper()
	out, err := m.Client.ListMultipartUploads(context.WithoutCancel(t.Context()),
		&s3.ListMultipartUploadsInput{Bucket: aws.String(Bucket)})
	if err != nil {
		t.Fatalf("list uploads: %v", err)
	}
	n := 0
	for _, upload := range out.Uploads {
		if strings.HasPrefix(aws.ToString(upload.Key), prefix) {
			n++
		}
	}
	return n
}
