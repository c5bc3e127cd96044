package main

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/controllers"
	"github.com/etcdpilot/etcd-operator/controllers/installation"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

func TestManagerOptionsNamespaces(t *testing.T) {
	for given, want := range map[string][]string{
		"": nil, "a": {"a"}, "a,b": {"a", "b"}, "a , b,": {"a", "b"}, ",": nil,
	} {
		options := managerOptions(options{namespaces: given}, runtime.NewScheme())
		if got := slices.Sorted(maps.Keys(options.Cache.DefaultNamespaces)); !slices.Equal(got, want) {
			t.Errorf("%q watches %q, want %q", given, got, want)
		}
	}
}

// TestManagerOptionsMetrics wants metrics to be given only to those whom the API server allows.
func TestManagerOptionsMetrics(t *testing.T) {
	secure := managerOptions(options{metricsAddress: ":8443", secureMetrics: true}, runtime.NewScheme()).Metrics
	if !secure.SecureServing || secure.FilterProvider == nil {
		t.Errorf("secure metrics are served with %+v", secure)
	}
}

// TestStartRefuses wants the operator to end with the name of what is wrong, before it asks for a cluster.
func TestStartRefuses(t *testing.T) {
	for want, given := range map[string]options{
		"OPERATOR_IMAGE":  {},
		"AUTOPILOT":       {controllers: controllers.Options{OperatorImage: "operator"}, autopilot: "off"},
		"ETCD_REPOSITORY": {controllers: controllers.Options{OperatorImage: "operator", EtcdRepository: "mirror/etcd:v3.6.16"}},
		"--metrics-cert-dir": {
			controllers: controllers.Options{OperatorImage: "operator"}, metricsCertDir: filepath.Join(t.TempDir(), "absent"),
		},
	} {
		if err := run(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error about %s", given, err, want)
		}
	}
}

// TestSampleEvery has tests be quicker with what takes a day, and nobody else.
func TestSampleEvery(t *testing.T) {
	for pace, want := range map[string]time.Duration{"": 0, "1": 5 * time.Minute, "100": 3 * time.Second, "300": time.Second} {
		if got, err := sampleEvery(pace); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", pace, got, err, want)
		}
	}
	for _, pace := range []string{"0", "-1", "301", "much"} {
		if _, err := sampleEvery(pace); err == nil || !strings.Contains(err.Error(), "AUTOPILOT_PACE") {
			t.Errorf("%q: %v", pace, err)
		}
	}
}

// TestAwaitAPIEnds has the operator be stopped while an API server takes its request and answers nothing.
func TestAwaitAPIEnds(t *testing.T) {
	asked := make(chan struct{}, 1)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- awaitAPI(ctx, &rest.Config{Host: silent.URL}) }()
	<-asked
	stop()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for the answer")
	}
	silent.CloseClientConnections() // of the request that is still waited for, if it is
	silent.Close()
}

// TestPinnedImages wants the variables of the manifests to pin nothing as they are, and all images of etcd once the tags have been replaced by
// digests, as operator-sdk does it for a bundle.
func TestPinnedImages(t *testing.T) {
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	var shipped, replaced []string
	var want version.Pinned
	for _, v := range version.Tested {
		variable := "RELATED_IMAGE_ETCD_" + strings.ReplaceAll(v, ".", "_") + "="
		shipped = append(shipped, variable+version.Image("", v)) // TestManifests holds that these are there
		replaced = append(replaced, variable+version.DefaultRepository+digest)
		want = append(want, version.Image("", v)+digest)
	}
	slices.Sort(want)
	if got, err := version.PinnedBy(shipped); len(got) > 0 || err != nil {
		t.Errorf("tags pin %q, %v", got, err)
	}
	if got, err := version.PinnedBy(replaced); !slices.Equal(got, want) || err != nil {
		t.Errorf("digests pin %q, %v; want %q", got, err, want)
	}
	t.Setenv("RELATED_IMAGE_ETCD_3_6_16", "quay.io/coreos/etcd:latest")
	given := options{controllers: controllers.Options{OperatorImage: "operator"}}
	if err := run(given); err == nil || !strings.Contains(err.Error(), "RELATED_IMAGE_ETCD_3_6_16=quay.io/coreos/etcd:latest: ") {
		t.Errorf("the operator starts with the tag of no version: %v", err)
	}
}

// TestIdentity wants an operator to claim what it acts on by the very Lease that it holds.
func TestIdentity(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(file, []byte("there\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := installation.Identity(file)
	if err != nil || self.Namespace != "there" {
		t.Fatalf("it is %s, %v", self, err)
	}
	lease, err := installation.NewLock(&rest.Config{Host: "https://localhost"}, self)
	if err != nil {
		t.Fatal(err)
	}
	held := managerOptions(options{controllers: controllers.Options{Self: self, Lease: lease}}, runtime.NewScheme())
	if holds := held.LeaderElectionResourceLockInterface; !held.LeaderElection || holds.Describe() != "there/"+reservations.LeaseName {
		t.Errorf("it is %s and holds %v", self, holds)
	}
	if _, err := installation.Identity(file + "-of-nobody"); err == nil || !strings.Contains(err.Error(), "--leader-elect") {
		t.Errorf("outside of Kubernetes: %v", err)
	}
}

// TestManifests wants members to take member-run from the image that the manager runs, OLM to be listened to, and the images
// of etcd to be listed that the operator is tested with.
func TestManifests(t *testing.T) {
	deployment := &appsv1.Deployment{}
	for _, manifest := range testenv.Build(t, "config/default").Resources() {
		if manifest.GetKind() != "Deployment" {
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(manifest.MustYaml()), deployment); err != nil {
			t.Fatal(err)
		}
	}
	if len(deployment.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("no Deployment with one container: %+v", deployment)
	}
	manager := deployment.Spec.Template.Spec.Containers[0]
	want := []corev1.EnvVar{{Name: "OPERATOR_IMAGE", Value: manager.Image}, {
		Name: "WATCH_NAMESPACE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: "metadata.annotations['olm.targetNamespaces']",
		}},
	}}
	for _, name := range slices.Sorted(maps.Keys(installation.PodLabels)) {
		if deployment.Spec.Template.Labels[installation.PodLabels[name]] == "" {
			t.Errorf("the pods have no label %s", installation.PodLabels[name])
		}
		want = append(want, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: "metadata.labels['" + installation.PodLabels[name] + "']",
		}}})
	}
	for _, v := range version.Tested { // all that a mirror needs, and nothing else
		name := "RELATED_IMAGE_ETCD_" + strings.ReplaceAll(v, ".", "_")
		want = append(want, corev1.EnvVar{Name: name, Value: version.Image("", v)})
	}
	if !reflect.DeepEqual(manager.Env, want) {
		t.Errorf("the environment is %+v, want %+v", manager.Env, want)
	}
	if !slices.Contains(manager.Args, "--metrics-bind-address=:8443") || !slices.Contains(manager.Args, "--leader-elect") {
		t.Errorf("the manager is started with %q", manager.Args)
	}
}
