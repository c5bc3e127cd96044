package stories

import (
	"context"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestMigrateWithPassword brings the data of an etcd whose authentication is on, and which serves without TLS, into an EtcdCluster with TLS,
// by the commands of docs/migrate.md. Its pods have root's password from a Secret, as those of Bitnami's chart do. Whoever could log in
// before can log in then, and nobody else gets in.
func TestMigrateWithPassword(t *testing.T) {
	t.Parallel()
	const password, key = "root-password", "etcd-root-password"
	m := beginMigration(t, "migrate-password", "apiVersion: v1\nkind: Secret\nmetadata: {name: old}\nstringData: {"+key+": "+password+"}\n---"+
		strings.Replace(oldEtcd, "env: [", "env: [{name: ETCD_ROOT_PASSWORD, valueFrom: {secretKeyRef: {name: old, key: "+key+"}}}, ", 1))
	m.secret("mistyped", map[string]string{key: "another-password"})
	m.fills(300)
	m.asksForPasswords(password)

	m.saves("backup.yaml", withPassword("mistyped", key))
	m.runs("sed s/STEP/mistyped/ backup.yaml | kubectl apply -f -")
	refused := &v1beta2.EtcdBackup{}
	m.saysWhy("mistyped", refused, func() []metav1.Condition { return refused.Status.Conditions },
		v1beta2.ConditionBackedUp, v1beta2.ReasonEtcdAccessDenied)

	m.saves("backup.yaml", withPassword("old", key))
	m.saves("new.yaml", servingOverTLS)
	before := m.readOld()
	m.runs(m.blocks("Rehearse", 2)[0])
	m.sameKeys("the new cluster has", before, m.read())
	m.hasAcknowledged()
	must(t, m.AskWithPassword(t.Context(), "root", password, write))
	if err := m.AskWithPassword(t.Context(), "root", "another-password", write); err == nil {
		t.Error("root has two passwords")
	}
	m.refuses("nobody")
}

// servingOverTLS has the new cluster serve over TLS, by the name that clients know the old etcd by, too.
func servingOverTLS(manifest string) string {
	return strings.TrimRight(manifest, "\n") + "\n  tls: {managed: {extraServerNames: [old-client]}}\n"
}

// withPassword has a backup log in with the password under that key of a Secret.
func withPassword(secret, key string) func(string) string {
	return func(manifest string) string {
		return strings.Replace(manifest, "  storage:", "  passwordSecretRef: {name: "+secret+", key: "+key+"}\n  storage:", 1)
	}
}

// asksForPasswords makes the user root in the old etcd, and switches its authentication on.
func (m *migration) asksForPasswords(password string) {
	m.t.Helper()
	m.askOld(func(ctx context.Context, etcd *clientv3.Client) error {
		if _, err := etcd.UserAdd(ctx, "root", password); err != nil {
			return err
		}
		if _, err := etcd.UserGrantRole(ctx, "root", "root"); err != nil {
			return err
		}
		_, err := etcd.AuthEnable(ctx)
		return err
	})
	m.password = password
}
