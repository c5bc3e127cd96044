package v1beta2_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Public keys of age.
const (
	publicKey = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
	otherKey  = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg"
)

// many are different keys as far as the schema sees.
func many(n int) (keys []any) {
	for i := range n {
		keys = append(keys, publicKey[:61]+string(rune('a'+i)))
	}
	return keys
}

// loggingIn are the fields of a backup that logs in there.
func loggingIn(endpoints ...any) map[string]any {
	return map[string]any{"spec.etcdCluster": nil, "spec.etcdEndpoints": endpoints, "spec.passwordSecretRef": map[string]any{"name": "login"}}
}

// testBackup asks which EtcdBackups are accepted.
func testBackup(t *testing.T, c client.Client) {
	for name, tc := range map[string]struct {
		fields map[string]any
		want   string
	}{
		"of a cluster, by URL": {nil, ""},
		"all about retention": {map[string]any{
			"spec.schedule": "@daily", "spec.timeZone": "Europe/Berlin",
			"spec.backupPolicy": map[string]any{"maxBackups": int64(3), "maxAge": "720h", "keep": map[string]any{"daily": int64(7)}},
		}, ""},
		"to a claim": {map[string]any{
			"spec.storage": map[string]any{"url": "file:///backups", "persistentVolumeClaim": "backups"},
		}, ""},
		"beside others":    {map[string]any{"spec.prefixPolicy": "Shared"}, ""},
		"beside whom":      {map[string]any{"spec.prefixPolicy": "Any"}, "spec.prefixPolicy"},
		"of nothing":       {map[string]any{"spec.etcdCluster": nil}, "say what of"},
		"of two":           {map[string]any{"spec.etcdEndpoints": []any{"http://a:2379"}}, "say what of"},
		"to nowhere":       {map[string]any{"spec.storage": nil}, "say where to"},
		"to a bad URL":     {map[string]any{"spec.storage.url": "ftp://a/b"}, "spec.storage.url"},
		"to no claim":      {map[string]any{"spec.storage.url": "file:///backups"}, "persistentVolumeClaim"},
		"a stray TLS":      {map[string]any{"spec.clientTLSSecret": "tls"}, "clientTLSSecret belongs to etcdEndpoints"},
		"a stray password": {map[string]any{"spec.passwordSecretRef": map[string]any{"name": "login"}}, "passwordSecretRef belongs to etcdEndpoints"},
		"a password": {map[string]any{
			"spec.etcdCluster": nil, "spec.etcdEndpoints": []any{"http://a:2379"},
			"spec.passwordSecretRef": map[string]any{"name": "old", "key": "etcd-root-password"},
		}, ""},
		"a password of no Secret": {map[string]any{
			"spec.etcdCluster": nil, "spec.etcdEndpoints": []any{"http://a:2379"}, "spec.passwordSecretRef": map[string]any{"key": "password"},
		}, "passwordSecretRef.name: Required"},
		"a password over TLS":      {loggingIn("https://a:2379", "https://b:2379"), ""},
		"a password in plain text": {loggingIn("http://a:2379", "http://b:2379"), ""},
		"a password to no scheme":  {loggingIn("a:2379"), "all begin with https://, or all with http://"},
		"a password to a socket":   {loggingIn("unix:///run/etcd"), "all begin with https://, or all with http://"},
		"a password to a mixture":  {loggingIn("https://a:2379", "http://b:2379"), "all begin with https://, or all with http://"},
		"a certificate to a mixture": {map[string]any{
			"spec.etcdCluster": nil, "spec.etcdEndpoints": []any{"https://a:2379", "b:2379"}, "spec.clientTLSSecret": "tls",
		}, ""},
		"a stray zone":     {map[string]any{"spec.timeZone": "UTC"}, "timeZone belongs to schedule"},
		"no Secret's name": {map[string]any{"spec.storage.credentialsSecretRef": map[string]any{}}, "credentialsSecretRef.name: Required"},
		"an authority":     {map[string]any{"spec.storage.caBundleRef": map[string]any{"kind": "ConfigMap", "name": "ca", "key": "bundle.pem"}}, ""},
		"an authority of no kind we know": {
			map[string]any{"spec.storage.caBundleRef": map[string]any{"kind": "ClusterTrustBundle", "name": "ca"}}, "Unsupported value",
		},
		"a passphrase by its former name":  {map[string]any{"spec.encryptionSecret": "p"}, "encryptionSecret is called encryptionSecretRef.name now"},
		"recipients":                       {map[string]any{"spec.encryptionRecipients": []any{publicKey, otherKey}}, ""},
		"recipients, read back":            {map[string]any{"spec.encryptionRecipients": []any{publicKey}, "spec.verify": "Checksum"}, ""},
		"recipients, never read":           {map[string]any{"spec.encryptionRecipients": []any{publicKey}, "spec.verify": "None"}, ""},
		"recipients, restored on trial":    {map[string]any{"spec.encryptionRecipients": []any{publicKey}, "spec.verify": "Restore"}, "verify: Restore decrypts the backup"},
		"verified as only status says":     {map[string]any{"spec.verify": "Ciphertext"}, "spec.verify: Unsupported value"},
		"recipients and a passphrase":      {map[string]any{"spec.encryptionRecipients": []any{publicKey}, "spec.encryptionSecretRef": map[string]any{"name": "p"}}, "give encryptionSecretRef (a passphrase) or encryptionRecipients"},
		"no recipients":                    {map[string]any{"spec.encryptionRecipients": []any{}}, "spec.encryptionRecipients: Invalid value"},
		"one recipient twice":              {map[string]any{"spec.encryptionRecipients": []any{publicKey, publicKey}}, "Duplicate value"},
		"a recipient cut off":              {map[string]any{"spec.encryptionRecipients": []any{publicKey[:61]}}, "must be public keys as age-keygen prints them"},
		"a recipient with more behind it":  {map[string]any{"spec.encryptionRecipients": []any{publicKey + "\n"}}, "must be public keys as age-keygen prints them"},
		"a recipient in upper case":        {map[string]any{"spec.encryptionRecipients": []any{strings.ToUpper(publicKey)}}, "must be public keys as age-keygen prints them"},
		"a secret key":                     {map[string]any{"spec.encryptionRecipients": []any{"AGE-SECRET-KEY-1" + strings.Repeat("Q", 58)}}, "must be public keys as age-keygen prints them"},
		"recipients of another program":    {map[string]any{"spec.encryptionRecipients": []any{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB"}}, "must be public keys as age-keygen prints them"},
		"too many recipients":              {map[string]any{"spec.encryptionRecipients": many(17)}, "must have at most 16 items"},
		"credentials by their former name": {map[string]any{"spec.storage.secret": "k"}, "storage.secret is called credentialsSecretRef.name now"},
		"two time-outs":                    {map[string]any{"spec.backupPolicy": map[string]any{"timeoutInSecond": int64(5), "timeoutSeconds": int64(5)}}, "give timeoutSeconds or"},
		"one time-out":                     {map[string]any{"spec.backupPolicy": map[string]any{"timeoutInSecond": int64(0), "timeoutSeconds": int64(5)}}, ""},
		"no time":                          {map[string]any{"spec.backupPolicy": map[string]any{"timeoutSeconds": int64(0)}}, "greater than or equal to 1"},
		"two intervals":                    {map[string]any{"spec.backupPolicy": map[string]any{"backupIntervalInSecond": int64(5), "intervalSeconds": int64(5)}}, "give intervalSeconds or"},
		"both schedules":                   {map[string]any{"spec.schedule": "@daily", "spec.backupPolicy": map[string]any{"intervalSeconds": int64(5)}}, "not both"},
		"two schedules":                    {map[string]any{"spec.schedule": "@daily", "spec.backupPolicy": map[string]any{"backupIntervalInSecond": int64(5)}}, "not both"},
		"tokens in plain text": {map[string]any{
			"spec.storage": map[string]any{"url": "gs://b/p", "endpoint": "http://m:9000", "credentialsSecretRef": map[string]any{"name": "s"}},
		}, "make it https://, or set storage.allowTokens"},
		"an identity in plain text": {map[string]any{"spec.storage.endpoint": "http://m:9000"}, "storage.allowTokens"},
		"tokens that are meant": {map[string]any{
			"spec.storage": map[string]any{"url": "gs://b/p", "endpoint": "http://m:9000", "allowTokens": true},
		}, ""},
		"keys in plain text": {map[string]any{
			"spec.storage": map[string]any{"url": "s3://b/p", "endpoint": "http://m:9000", "credentialsSecretRef": map[string]any{"name": "s"}},
		}, ""},
		"tokens to nowhere": {map[string]any{"spec.storage.allowTokens": true}, "allowTokens belongs to endpoint"},
		"pods of a cluster": {map[string]any{
			"spec.pod": map[string]any{"labels": map[string]any{"etcd_cluster": "c"}},
		}, "pod.labels: the keys app, etcd_*"},
		"pods that serve": {map[string]any{
			"spec.pod": map[string]any{"labels": map[string]any{"etcd.database.coreos.com/serving": "true"}},
		}, "pod.labels"},
		"pods with a permit": {map[string]any{
			"spec.pod": map[string]any{"annotations": map[string]any{"etcd.database.coreos.com/permit": "{}"}},
		}, "pod.annotations: the keys etcd.database.coreos.com/*"},
		"labels of somebody else": {map[string]any{
			"spec.pod": map[string]any{"labels": map[string]any{"team": "a"}, "annotations": map[string]any{"app": "b"}},
		}, ""},
		"an age in days":   {map[string]any{"spec.backupPolicy": map[string]any{"maxAge": "30d"}}, "maxAge"},
		"an age below now": {map[string]any{"spec.backupPolicy": map[string]any{"maxAge": "-1h"}}, "maxAge must be more than 0"},
		"a spool":          {map[string]any{"spec.pod": map[string]any{"spool": "500Mi"}}, ""},
		"no spool":         {map[string]any{"spec.pod": map[string]any{"spool": int64(0)}}, ""},
		"a spool below 0":  {map[string]any{"spec.pod": map[string]any{"spool": "-1Gi"}}, "spool must not be negative"},
		"less than none":   {map[string]any{"spec.pod": map[string]any{"spool": int64(-1)}}, "spool must not be negative"},
		"six fields":       {map[string]any{"spec.schedule": "0 30 2 * * *"}, "the five fields of cron"},
		"a word":           {map[string]any{"spec.schedule": "daily"}, "the five fields of cron"},
		"five fields":      {map[string]any{"spec.schedule": " 30  2 * * 1-5 "}, ""},
		"every so often":   {map[string]any{"spec.schedule": "@every 90m"}, ""},
		"no schedule":      {map[string]any{"spec.schedule": ""}, ""},
		"zone in schedule": {map[string]any{"spec.schedule": "TZ=UTC 2 * * *"}, "name the time zone in timeZone"},
		"zone of nobody":   {map[string]any{"spec.schedule": "@daily", "spec.timeZone": "Local"}, "timeZone must be one of"},
		"scratch":          {map[string]any{"spec.pod.scratch": claim("ReadWriteOnce")}, ""},
		"no size":          {map[string]any{"spec.pod.scratch": map[string]any{}}, "scratch.resources.requests.storage is missing"},
		"too long a name":  {map[string]any{"metadata.name": strings.Repeat("a", 64)}, "at most 63 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": v1beta2.GroupVersion.String(), "kind": "EtcdBackup",
				"metadata": map[string]any{"name": "b", "namespace": "default"},
				"spec": map[string]any{
					"etcdCluster": map[string]any{"name": "c"}, "storage": map[string]any{"url": "s3://bucket/folder"},
				},
			}}
			set(u, tc.fields)
			check(t, c.Create(t.Context(), u, client.DryRunAll), tc.want)
		})
	}
}
