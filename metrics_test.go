package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/alerts"
)

// TestMetricsCertificate wants the operator to serve metrics with the certificate that it is given, or not to start.
func TestMetricsCertificate(t *testing.T) {
	dir := t.TempDir()
	if got := managerOptions(options{metricsCertDir: dir}, runtime.NewScheme()).Metrics.CertDir; got != dir {
		t.Errorf("the certificate is read from %q, want %q", got, dir)
	}
	if err := checkCertificate(dir); err == nil || !strings.Contains(err.Error(), "--metrics-cert-dir") {
		t.Errorf("an empty folder: %v", err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("metrics", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, given := range []string{dir, ""} {
		if err := checkCertificate(given); err != nil {
			t.Error(err)
		}
	}
}

// monitoring is what the manifests say about the operator's metrics.
type monitoring struct {
	manager appsv1.Deployment
	service corev1.Service
	scrape  struct {
		Spec struct {
			Endpoints []struct {
				HonorLabels bool `json:"honorLabels"`
				TLSConfig   struct {
					CA                 map[string]map[string]string `json:"ca"`
					ServerName         string                       `json:"serverName"`
					InsecureSkipVerify bool                         `json:"insecureSkipVerify"`
				} `json:"tlsConfig"`
			} `json:"endpoints"`
		} `json:"spec"`
	}
	certificate struct {
		Spec struct {
			DNSNames   []string          `json:"dnsNames"`
			SecretName string            `json:"secretName"`
			IssuerRef  map[string]string `json:"issuerRef"`
		} `json:"spec"`
	}
	issuer corev1.ObjectReference
	rules  struct {
		Spec struct {
			Groups []alerts.Group `json:"groups"`
		} `json:"spec"`
	}
}

// withComponent is what config/default with one of the components that its comment names says.
func withComponent(t *testing.T, component string) monitoring {
	t.Helper()
	var m monitoring
	into := map[string]any{
		"Deployment": &m.manager, "Service": &m.service, "ServiceMonitor": &m.scrape, "Certificate": &m.certificate, "PrometheusRule": &m.rules,
		"Issuer": &struct {
			Metadata *corev1.ObjectReference `json:"metadata"`
		}{&m.issuer},
	}
	for _, manifest := range buildWith(t, component).Resources() {
		if object, wanted := into[manifest.GetKind()]; wanted {
			if err := yaml.Unmarshal([]byte(manifest.MustYaml()), object); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// buildWith builds config/default with one of the components that its comment names.
func buildWith(t *testing.T, component string) resmap.ResMap {
	t.Helper()
	config := t.TempDir()
	if err := os.CopyFS(config, os.DirFS("config")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(config, "default", "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("# components:", "components:", "# - "+component+"\n", "- "+component+"\n").Replace(string(text))
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// TestObservabilityByOLM wants those who install by OLM to be told of the objects that config/prometheus has, to the last field.
func TestObservabilityByOLM(t *testing.T) {
	text, err := os.ReadFile("docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "save this as `monitoring.yaml`:\n\n```yaml\n")
	block, _, ended := strings.Cut(block, "```")
	if !found || !ended {
		t.Fatal("docs/observability.md has no monitoring.yaml")
	}
	shipped := map[string]map[string]any{}
	for _, manifest := range buildWith(t, "../prometheus/cert-manager").Resources() {
		object := map[string]any{}
		if err := yaml.Unmarshal([]byte(manifest.MustYaml()), &object); err != nil {
			t.Fatal(err)
		}
		shipped[manifest.GetKind()+"/"+manifest.GetNamespace()+"/"+manifest.GetName()] = object
	}
	told := strings.Split(block, "---\n")
	if len(told) != 3 {
		t.Errorf("%d objects are told of", len(told))
	}
	for _, one := range told {
		var object struct {
			Kind     string                 `json:"kind"`
			Metadata corev1.ObjectReference `json:"metadata"`
			Spec     map[string]any         `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(one), &object); err != nil {
			t.Fatal(err)
		}
		name := object.Kind + "/" + object.Metadata.Namespace + "/" + object.Metadata.Name
		if want := shipped[name]; want == nil || !reflect.DeepEqual(object.Spec, want["spec"]) {
			t.Errorf("%s is told of as %v, and shipped as %v", name, object.Spec, want)
		}
	}
}

// TestMonitorVerifies wants Prometheus to send its token only to a server with the certificate that the manager is given.
func TestMonitorVerifies(t *testing.T) {
	const secret = "metrics-server-cert"
	for component, authority := range map[string]string{
		"../prometheus/cert-manager": "secret/" + secret + "/ca.crt",
		"../prometheus/openshift":    "configMap/openshift-service-ca.crt/service-ca.crt",
	} {
		t.Run(filepath.Base(component), func(t *testing.T) {
			m := withComponent(t, component)
			if len(m.scrape.Spec.Endpoints) != 1 || !m.scrape.Spec.Endpoints[0].HonorLabels {
				t.Fatalf("the ServiceMonitor is %+v", m.scrape)
			}
			if m.service.Name != alerts.Job || len(m.rules.Spec.Groups) != len(alerts.ForOperator(alerts.Timing{})) {
				t.Errorf("the alerts are about the job %s, and there are %+v", m.service.Name, m.rules)
			}
			client, name := m.scrape.Spec.Endpoints[0].TLSConfig, m.service.Name+"."+m.service.Namespace+".svc"
			kind, source, _ := strings.Cut(authority, "/")
			if got := client.CA[kind]; client.InsecureSkipVerify || got["name"]+"/"+got["key"] != source || client.ServerName != name {
				t.Errorf("Prometheus has %+v, want %s by the authority %s", client, name, authority)
			}
			wantMounted(t, m.manager, secret)
			if component == "../prometheus/openshift" {
				if got := m.service.Annotations["service.beta.openshift.io/serving-cert-secret-name"]; got != secret {
					t.Errorf("OpenShift puts the certificate into %q", got)
				}
				return
			}
			made := m.certificate.Spec
			if !slices.Contains(made.DNSNames, name) || made.SecretName != secret || made.IssuerRef["name"] != m.issuer.Name {
				t.Errorf("cert-manager makes %+v, by the issuer %s", made, m.issuer.Name)
			}
		})
	}
}

// TestCertificateAlone wants what is for a Prometheus without Prometheus Operator to have no object of a kind that is missing then, and the
// manager to serve its metrics with the certificate.
func TestCertificateAlone(t *testing.T) {
	for _, manifest := range buildWith(t, "../prometheus/certificate").Resources() {
		if manifest.GetGvk().Group == "monitoring.coreos.com" {
			t.Errorf("there is a %s", manifest.GetKind())
		}
	}
	m := withComponent(t, "../prometheus/certificate")
	wantMounted(t, m.manager, "metrics-server-cert")
	name := m.service.Name + "." + m.service.Namespace + ".svc"
	if made := m.certificate.Spec; !slices.Contains(made.DNSNames, name) || made.SecretName != "metrics-server-cert" || made.IssuerRef["name"] != m.issuer.Name {
		t.Errorf("cert-manager makes %+v for %s, by the issuer %s", made, name, m.issuer.Name)
	}
}

// wantMounted wants the manager to look for its certificate where a Secret is mounted.
func wantMounted(t *testing.T, deployment appsv1.Deployment, secret string) {
	t.Helper()
	pod := deployment.Spec.Template.Spec
	manager := pod.Containers[0]
	for _, mount := range manager.VolumeMounts {
		for _, volume := range pod.Volumes {
			if volume.Name == mount.Name && volume.Secret != nil && volume.Secret.SecretName == secret &&
				slices.Contains(manager.Args, "--metrics-cert-dir="+mount.MountPath) {
				return
			}
		}
	}
	t.Errorf("the manager has the arguments %q, the mounts %+v and the volumes %+v", manager.Args, manager.VolumeMounts, pod.Volumes)
}

// TestNothingSkipsVerification wants no manifest to tell a client to take any certificate.
func TestNothingSkipsVerification(t *testing.T) {
	for _, folder := range []string{"config", "bundle", "catalog"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), "insecureSkipVerify") {
				t.Errorf("%s has insecureSkipVerify", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
