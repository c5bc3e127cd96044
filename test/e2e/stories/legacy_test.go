package stories

import (
	"fmt"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// legacyManifests applies what people have written for coreos/etcd-operator. It knows no certificate authority for S3, so
// that MinIO is reached without TLS, over a wire.
func legacyManifests(t *testing.T) {
	s := begin(t, "legacy", v1beta2.EtcdClusterSpec{Size: 3})
	s.settled()
	_, storage := s.plainMinIO()
	addon := s.addon(lab.MinIO)
	s.secret("aws", map[string]string{
		"credentials": fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n",
			addon.Env["AWS_ACCESS_KEY_ID"], addon.Env["AWS_SECRET_ACCESS_KEY"]),
		"config": "[default]\nregion = us-east-1\n",
	})
	stanza := func(key string) string {
		return fmt.Sprintf("s3: {path: %s/%s, awsSecret: aws, endpoint: %q, forcePathStyle: true}",
			strings.TrimPrefix(storage.URL, "s3://"), key, storage.Endpoint)
	}
	s.puts("before", 10)
	s.apply(legacyBackup("one-shot", stanza("one-shot"), ""))
	status := s.backedUp("one-shot").Status
	if status.Reason != "" || status.EtcdVersion == "" || status.EtcdRevision == 0 || status.LastSuccessDate == nil ||
		status.Snapshots[0].Name != "one-shot" {
		t.Errorf("the status is %s", inJSON(status))
	}
	s.apply(legacyBackup("periodic", stanza("periodic"),
		fmt.Sprintf("backupPolicy: {backupIntervalInSecond: %d, maxBackups: 2}", int(interval.Seconds()))))
	s.runs("periodic", 3)
	status = s.suspended("periodic").Status
	if status.SnapshotCount != 2 || !strings.HasPrefix(status.Snapshots[0].Name, "periodic_v") {
		t.Errorf("two backups are to be kept: %s", inJSON(status))
	}
	s.puts("after", 5)
	s.apply(fmt.Sprintf(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdRestore
metadata: {name: %[1]s}
spec:
  etcdCluster: {name: %[1]s}
  backupStorageType: S3
  %[2]s
`, s.Name, stanza("one-shot")))
	s.restored(s.Name)
	s.healthy("restored")
	s.has("before", 10)
	s.has("after", 0)
}

// legacyBackup is a manifest of an EtcdBackup as coreos/etcd-operator's documentation has it.
func legacyBackup(name, stanza, policy string) string {
	return fmt.Sprintf(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: %s}
spec:
  etcdEndpoints: ["http://legacy-client:2379"]
  storageType: S3
  %s
  %s
`, name, policy, stanza)
}
