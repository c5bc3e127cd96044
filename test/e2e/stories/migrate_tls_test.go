package stories

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// TestMigrateWithTLS brings the data of an etcd in a StatefulSet, which serves over TLS and asks clients for certificates, into an EtcdCluster with
// TLS, by the commands of docs/migrate.md with the changes that it tells for TLS. The application keeps the name that it connects to.
func TestMigrateWithTLS(t *testing.T) {
	t.Parallel()
	now := time.Now()
	authority, err := pki.NewAuthority(rand.Reader, "theirs", now, time.Hour)
	must(t, err)
	server := theirs(t, "server", authority, pki.Request{
		Names: []string{"*.old", "old-client"}, Now: now, Lifetime: time.Hour, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	application := theirs(t, "old", authority, pki.Request{
		CommonName: "app", Now: now, Lifetime: time.Hour, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	m := beginMigration(t, "migrate-tls", server.manifest+application.manifest+oldWithTLS.Replace(oldEtcd+oldApp),
		"kubectl exec service/old-client -- etcdctl", "kubectl exec old-ctl -- etcdctl", "kubectl exec service/new-client -- etcdctl", "kubectl etcd ctl new --")
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf())
	m.tls = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: "old-client", Certificates: []tls.Certificate{application.pair}}
	m.connectsOverTLS()
	m.moves(300)
	m.leavesOld()
}

// presentsNewCertificate has the application, while it is stopped, take the certificate for clients of the new cluster from then on.
func (m *migration) presentsNewCertificate() {
	m.t.Helper()
	m.runs(`kubectl patch deployment app --type=json -p '[{"op": "replace", "path": "/spec/template/spec/volumes/0/secret/secretName", "value": "new-client"}]'`)
}

// connectsOverTLS makes what the document has those make who connect to the old etcd over TLS, and the manifests with what it has them add.
func (m *migration) connectsOverTLS() {
	m.t.Helper()
	m.runs(strings.ReplaceAll(m.commands("migrate.md", "Before you begin", "create secret generic old-tls"), "OLD", "old"))
	pods := blocksIn(m.t, "migrate.md", "Before you begin", "yaml")
	if len(pods) != 1 {
		m.t.Fatalf("one manifest was to be a pod with etcdctl: %q", pods)
	}
	m.prompt.saves("old-ctl.yaml", strings.ReplaceAll(pods[0], "VERSION", oldVersion))
	m.runs("kubectl apply -f old-ctl.yaml && kubectl wait --for=condition=Ready pod/old-ctl --timeout=3m")
	m.findsPlugin(buildPlugin(m.t))
	m.saves("backup.yaml", func(manifest string) string {
		return strings.Replace(strings.ReplaceAll(manifest, "http://", "https://"), "  storage:", "  clientTLSSecret: old-tls\n  storage:", 1)
	})
	m.saves("new.yaml", servingOverTLS)
}

// oldWithTLS changes the old etcd, and the application, so that they talk over TLS.
var oldWithTLS = strings.NewReplacer(
	"--listen-client-urls=http:", "--listen-client-urls=https:", "--advertise-client-urls=http:", "--advertise-client-urls=https:",
	"        env: [{name: POD", "        - --client-cert-auth\n        - --trusted-ca-file=/tls/ca.crt\n        - --cert-file=/tls/tls.crt\n"+
		"        - --key-file=/tls/tls.key\n        env: [{name: POD",
	"volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts: [{name: data, mountPath: /data}, {name: tls, mountPath: /tls}]\n"+
		"      volumes: [{name: tls, secret: {secretName: server}}]",
	`args: [--endpoints, "http://old-client:2379"]`, `args: [--endpoints, "https://old-client:2379", --tls, /tls]`+"\n        volumeMounts: [{name: tls, mountPath: /tls}]",
	"      containers:\n      - name: client\n", "      volumes: [{name: tls, secret: {secretName: old, items: ["+
		"{key: ca.crt, path: ca.crt}, {key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]}}]\n      containers:\n      - name: client\n",
)

// issued is a certificate, and the Secret with it.
type issued struct {
	pair     tls.Certificate
	manifest string
}

// theirs has an authority issue a certificate that is kept in a Secret as Kubernetes' own tools make them.
func theirs(t *testing.T, secret string, by *pki.Pair, r pki.Request) issued {
	t.Helper()
	certificate, key := certified(t, by, r)
	pair, err := tls.X509KeyPair(certificate, key)
	must(t, err)
	manifest, err := json.Marshal(corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: secret}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key, "ca.crt": pki.Encode(by.Chain)},
	})
	must(t, err)
	return issued{pair, string(manifest) + "\n---\n"}
}
