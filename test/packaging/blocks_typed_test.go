package packaging

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestDocumentCommands runs those blocks of commands of the documents that need an API server and nothing behind it, as they stand there, and
// looks at what has become of it.
func TestDocumentCommands(t *testing.T) {
	r := newReader(t)
	for _, part := range []struct {
		name string
		does func(*reader)
	}{
		{"cluster", (*reader).edits},
		{"status", (*reader).looks},
		{"rights", (*reader).grants},
		{"secrets", (*reader).keeps},
		{"certificates", (*reader).certifies},
		{"monitoring", (*reader).monitors},
		{"restriction", (*reader).restricts},
		{"probe", (*reader).probes},
		{"installation", (*reader).installs},
		{"removal", (*reader).removes},
	} {
		t.Run(part.name, func(t *testing.T) { part.does(r.within(t)) })
	}
}

// edits edits the spec of an EtcdCluster.
func (r *reader) edits() {
	cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: example}, Spec: v1beta2.EtcdClusterSpec{Size: 3}}
	if err := r.Create(r.t.Context(), cluster); err != nil {
		r.t.Fatal(err)
	}
	feature := strings.NewReplacer("FEATURE", "divergedMember")
	for _, edit := range []struct{ commands, field, want string }{
		{r.commands("autopilot.md", "How far it goes", `"autopilot":{"mode":"Off"}`), ".spec.autopilot.mode", "Off"},
		{r.commands("autopilot.md", "How far it goes", `"paused":true`), ".spec.paused", "true"},
		{r.commands("autopilot.md", "Quota", "quotaBackendBytes"), ".spec.etcd.quotaBackendBytes", "2049Mi"},
		{r.commands("autopilot.md", "CPU and memory", "1001m"), ".spec.pod.resources.requests.cpu", "1001m"},
		{feature.Replace(r.commands("runbooks/EtcdAutopilotHeld.md", "Cure", `"mode":"Off"`)), ".spec.autopilot.divergedMember.mode", "Off"},
		{r.commands("runbooks/EtcdWritesRefused.md", "Cure", `"noSpace":{"mode":"Off"}`), ".spec.autopilot.noSpace.mode", "Off"},
	} {
		r.types(edit.commands)
		r.prints("kubectl get etcd example -o jsonpath='{"+edit.field+"}'", edit.want)
	}
}

// looks reads and edits what the operator has written to an EtcdCluster's status.
func (r *reader) looks() {
	const status = `{"status":{"keptVolumes":[{"name":"example-7","uid":"1","restore":"back"}],"operator":{"namespace":"etcd-operator-system","lease":"etcd-operator.etcd.database.coreos.com"},"autopilot":{
		"underWay":[{"feature":"noSpace","to":"example-0","since":"2026-01-31T12:00:00Z"}],
		"held":[{"feature":"noSpace","reason":"AdviseOnly","message":"it may not","since":"2026-01-31T12:00:00Z"}],
		"refusedVersions":[{"version":"3.6.17","since":"2026-01-31T12:00:00Z"}]}}}`
	r.types("kubectl patch etcd example --subresource=status --type=merge -p '" + status + "'")
	if out := r.types(r.commands("runbooks/EtcdWritesRefused.md", "Cure", "autopilot.held")); !strings.Contains(out, "AdviseOnly") {
		r.t.Errorf("it does not print what is held: %s", out)
	}
	if out := r.types(r.commands("autopilot.md", "What is told", "autopilot.underWay")); !strings.Contains(out, "2026-01-31") {
		r.t.Errorf("it does not print what is under way: %s", out)
	}
	if out := r.types(r.commands("autopilot.md", "Patches", "refusedVersions")); !strings.Contains(out, "3.6.17") {
		r.t.Errorf("it does not print what was taken back: %s", out)
	}
	if out := r.types(r.commands("autopilot.md", "Diverged members", ".status.keptVolumes'")); !strings.Contains(out, "example-7") {
		r.t.Errorf("it does not print which volumes are kept: %s", out)
	}
	r.types(r.commands("operations.md", "Two operators", `"operator":null`))
	r.prints("kubectl get etcd example -o jsonpath='{.status.operator}'", "")
}

// grants gives rights, and asks for them.
func (r *reader) grants() {
	r.types(r.commands("backup-and-restore.md", "Who may do what", "create rolebinding"))
	r.prints("kubectl auth can-i get secret/storage --as=alice", "yes")
	r.prints("kubectl auth can-i get secret/other --as=alice || true", "no")
	r.types(r.commands("observability.md", "The operator's own metrics", "create clusterrolebinding"))
	r.prints("kubectl auth can-i get /metrics --as=system:serviceaccount:monitoring:prometheus", "yes")
}

// keeps makes Secrets and ConfigMaps.
func (r *reader) keeps() {
	r.types(r.commands("auth.md", "Root's password", "create secret generic etcd-root"))
	password, err := base64.StdEncoding.DecodeString(string(r.secret(shop, "etcd-root").Data["password"]))
	if err != nil || len(password) != 24 {
		r.t.Errorf("the password has %d bytes: %v", len(password), err)
	}

	old := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "OLD"}, Type: corev1.SecretTypeTLS}
	old.Name = "old"
	old.Data = map[string][]byte{"tls.crt": []byte("certificate"), "tls.key": []byte("key"), "ca.crt": []byte("authority")}
	metrics := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Namespace, Name: "metrics-server-cert"}}
	metrics.Data = map[string][]byte{"ca.crt": []byte("authority of metrics")}
	for _, secret := range []client.Object{old, metrics} {
		if err := r.Create(r.t.Context(), secret); err != nil {
			r.t.Fatal(err)
		}
	}
	r.types(strings.ReplaceAll(r.commands("migrate.md", "Before you begin", "create secret generic old-tls"), "OLD", "old"))
	for key, want := range map[string]string{"etcd-client.crt": "certificate", "etcd-client.key": "key", "etcd-client-ca.crt": "authority"} {
		if got := string(r.secret(shop, "old-tls").Data[key]); got != want {
			r.t.Errorf("%s is %q", key, got)
		}
		if _, err := os.Stat(filepath.Join(r.folder, key)); !os.IsNotExist(err) {
			r.t.Errorf("the file %s is left: %v", key, err)
		}
	}
	r.types(r.commands("observability.md", "Without Prometheus Operator", "create configmap"))
	r.prints(`kubectl -n monitoring get configmap etcd-operator-ca -o jsonpath='{.data.ca\.crt}'`, "authority of metrics")

	r.types("kubectl -n argocd create configmap argocd-cm --from-literal=kept=yes")
	r.types(r.commands("operations.md", "Waiting for a cluster", "argocd-cm"))
	if out := r.types("kubectl -n argocd get configmap argocd-cm -o yaml"); !strings.Contains(out, "EtcdCluster") || !strings.Contains(out, "kept: \"yes\"") {
		r.t.Errorf("Argo CD has %s", out)
	}
}

func (r *reader) secret(namespace, name string) *corev1.Secret {
	r.t.Helper()
	secret := &corev1.Secret{}
	if err := r.Get(r.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
		r.t.Fatal(err)
	}
	return secret
}

// certifies makes certificates of the user's, and has each verified for what its member or client does with it.
func (r *reader) certifies() {
	commands := r.commands("tls.md", "Certificates of yours", "openssl req")
	r.types(strings.Replace(commands, "N=default", "N="+shop, 1))
	for _, c := range []struct {
		secret, key, name string
		usage             x509.ExtKeyUsage
	}{
		{"etcd-peer-tls", "peer", "example-0.example.shop.svc", x509.ExtKeyUsageServerAuth},
		{"etcd-peer-tls", "peer", "example-0.example.shop.svc", x509.ExtKeyUsageClientAuth},
		{"etcd-server-tls", "server", "example-client.shop.svc", x509.ExtKeyUsageServerAuth},
		{"etcd-server-tls", "server", "127.0.0.1", x509.ExtKeyUsageServerAuth},
		{"etcd-client-tls", "etcd-client", "", x509.ExtKeyUsageClientAuth},
	} {
		data := r.secret(shop, c.secret).Data
		authorities := x509.NewCertPool()
		block, _ := pem.Decode(data[c.key+".crt"])
		if block == nil || !authorities.AppendCertsFromPEM(data[c.key+"-ca.crt"]) || len(data[c.key+".key"]) == 0 {
			r.t.Errorf("%s lacks something: %v", c.secret, data)
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			r.t.Fatal(err)
		}
		if _, err := certificate.Verify(x509.VerifyOptions{Roots: authorities, DNSName: c.name, KeyUsages: []x509.ExtKeyUsage{c.usage}}); err != nil {
			r.t.Errorf("%s for %s: %v", c.secret, c.name, err)
		}
	}
}

// monitors gives Grafana its dashboards, and Prometheus its rules.
func (r *reader) monitors() {
	r.types(r.commands("observability.md", "Dashboards", "config/prometheus/dashboards"))
	if out := r.types("kubectl -n monitoring get configmaps -l grafana_dashboard=1 -o name"); !strings.Contains(out, "configmap/") {
		r.t.Error("there are no dashboards")
	}
	r.types(r.commands("observability.md", "Without Prometheus Operator", "hack/alerts"))
	for file, alert := range map[string]string{"etcd-operator.yaml": "EtcdOperatorDown", "etcd-shop.yaml": "EtcdQuorumLost"} {
		var rules struct {
			Groups []struct {
				Rules []struct{ Alert, Expr string }
			}
		}
		text, err := os.ReadFile(filepath.Join(r.folder, file))
		if err == nil {
			err = yaml.Unmarshal(text, &rules)
		}
		if err != nil || len(rules.Groups) == 0 || !strings.Contains(string(text), alert) {
			r.t.Errorf("%s has no rules: %v\n%s", file, err, text)
		}
	}
}
