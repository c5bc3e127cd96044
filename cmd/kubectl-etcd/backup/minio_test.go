package backup

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
)

// TestMinIO lists what is in a real server, as somebody does at the end of a tunnel to its Service.
func TestMinIO(t *testing.T) {
	server := storetest.StartMinIO(t)
	for name, text := range objects(t, manifest("demo", "3c1f7a90b2d4e586", 12)) {
		_, err := server.Client.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String(storetest.Bucket), Key: aws.String("demo/" + name), Body: bytes.NewReader(text),
		})
		must(t, err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_ACCESS_KEY_ID", string(server.Credentials["access-key-id"]))
	t.Setenv("AWS_SECRET_ACCESS_KEY", string(server.Credentials["secret-access-key"]))
	ca := filepath.Join(t.TempDir(), "ca.crt")
	must(t, os.WriteFile(ca, server.Target.CA, 0o600))
	tunnel := "--endpoint=" + server.Target.Endpoint
	for title, test := range map[string]struct {
		args []string
		want string
	}{
		"the tunnel's name":      {[]string{tunnel, "--ca-file=" + ca}, "default/demo  s3://backups/demo"},
		"the certificate's name": {[]string{tunnel, "--ca-file=" + ca, "--server-name=" + storetest.BehindProxy}, "3c1f7a90b2d4e586"},
		"another name":           {[]string{tunnel, "--ca-file=" + ca, "--server-name=minio.storage.svc"}, "not minio.storage.svc"},
		"no authority":           {[]string{tunnel}, "certificate"},
		"no such file":           {[]string{tunnel, "--ca-file=" + ca + "x"}, "no such file"},
		"the Service's name": {
			[]string{"--endpoint=https://minio.storage.svc:9001"},
			"kubectl -n storage port-forward service/minio 9000:9001), and give --endpoint https://127.0.0.1:9000 --server-name minio.storage.svc",
		},
		"a name without its namespace": {
			[]string{"--endpoint=http://minio.invalid"}, "kubectl -n NAMESPACE port-forward service/NAME 9000:80), and give --endpoint http://127.0.0.1:9000",
		},
	} {
		t.Run(title, func(t *testing.T) {
			var out strings.Builder
			cmd := listCommand(genericclioptions.NewConfigFlags(true), genericiooptions.IOStreams{Out: &out, ErrOut: &out})
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(append(test.args, "--url=s3://backups/demo", "--path-style"))
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				out.WriteString(err.Error())
			}
			if !strings.Contains(out.String(), test.want) {
				t.Errorf("it says %s", out.String())
			}
		})
	}
}
