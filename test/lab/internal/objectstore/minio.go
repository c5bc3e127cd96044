package objectstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Names that MinIO knows people by.
const (
	minioAdmin  = "admin"
	minioClient = "backup"
	// minioPolicy says what the client may do.
	minioPolicy = "backup"
	// minioAlias is what its command-line client calls the server.
	minioAlias = "lab"
)

var minio = Kind{
	Name: "minio", Tool: "minio", Port: 9000, health: "/minio/health/ready",
	command: func(s *Store) []string {
		return []string{
			filepath.Join(s.programs, "minio"), "server", "--address=" + s.Address(), "--certs-dir=" + s.minioCerts(), s.data(),
		}
	},
	environment: func(s *Store) []string {
		return []string{
			"MINIO_ROOT_USER=" + minioAdmin, "MINIO_ROOT_PASSWORD=" + s.keys.Admin,
			"MINIO_BROWSER=off", "MINIO_UPDATE=off",
		}
	},
	client: func(s *Store) map[string]string {
		return map[string]string{
			"AWS_ACCESS_KEY_ID": minioClient, "AWS_SECRET_ACCESS_KEY": s.keys.Client, "AWS_REGION": "us-east-1",
			"AWS_ENDPOINT_URL_S3": s.URL(),
		}
	},
	arrange: linkMinIO,
	prepare: prepareMinIO,
	seal: func(ctx context.Context, s *Store) error {
		return setPolicy(ctx, s, "s3:GetObject", "s3:ListBucket", "s3:GetBucketLocation")
	},
}

// minioCerts is where MinIO looks for its certificate.
func (s *Store) minioCerts() string { return filepath.Join(s.dir, "certs") }

// mcFolder is where its command-line client looks for authorities to trust.
func (s *Store) mcFolder() string { return filepath.Join(s.dir, "mc") }

func prepareMinIO(ctx context.Context, s *Store) error {
	if err := mc(ctx, s, "", "mb", "--ignore-existing", minioAlias+"/"+Bucket); err != nil {
		return err
	}
	// Without the key among the arguments it is read from the input.
	login := minioClient + "\n" + s.keys.Client + "\n"
	if err := mc(ctx, s, login, "admin", "user", "add", minioAlias); err != nil {
		return err
	}
	if err := setPolicy(ctx, s, "s3:*"); err != nil {
		return err
	}
	return mc(ctx, s, "", "admin", "policy", "attach", minioAlias, minioPolicy, "--user="+minioClient)
}

// setPolicy says what the client may do with the bucket, from now on.
func setPolicy(ctx context.Context, s *Store, actions ...string) error {
	bucket := "arn:aws:s3:::" + Bucket
	policy, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []map[string]any{
		{"Effect": "Allow", "Action": actions, "Resource": []string{bucket, bucket + "/*"}},
	}})
	if err != nil {
		return fmt.Errorf("encode a policy: %w", err)
	}
	return mc(ctx, s, string(policy), "admin", "policy", "create", minioAlias, minioPolicy, "/dev/stdin")
}

// mc runs one command of MinIO's command-line client as the administrator.
func mc(ctx context.Context, s *Store, input string, args ...string) error {
	server := url.URL{Scheme: "https", User: url.UserPassword(minioAdmin, s.keys.Admin), Host: s.Address()}
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, "mc"), args...) // #nosec G204 -- the lab's own commands
	cmd.Env = []string{
		"MC_HOST_" + minioAlias + "=" + server.String(), "MC_CONFIG_DIR=" + s.mcFolder(), "HOME=" + s.mcFolder(),
	}
	var output bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mc %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(output.String()))
	}
	return nil
}

// linkMinIO puts the certificates where MinIO and its client look for them.
func linkMinIO(s *Store) error {
	for link, target := range map[string]string{
		filepath.Join(s.minioCerts(), "public.crt"):           s.certs.Cert(s.Name),
		filepath.Join(s.minioCerts(), "private.key"):          s.certs.Key(s.Name),
		filepath.Join(s.mcFolder(), "certs", "CAs", "ca.crt"): s.certs.Cert("ca"),
	} {
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			return fmt.Errorf("make a folder of certificates: %w", err)
		}
		if err := os.Symlink(target, link); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("link a certificate: %w", err)
		}
	}
	return nil
}
