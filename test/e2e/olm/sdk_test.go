package olm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/packaging"
)

// TestRunBundle does what a developer of an operator does: operator-sdk runs one bundle, updates it to another one, and
// cleans up.
func TestRunBundle(t *testing.T) {
	s := begin(t, "run")
	s.unrestricted(s.namespace) // the pod that operator-sdk serves its catalog from may be root
	var variables []string
	for name, value := range manager.Env {
		variables = append(variables, name+"="+value)
	}
	sdk := func(args ...string) {
		t.Helper()
		args = append(args, "--namespace="+s.namespace, "--timeout=5m")
		out, err := program{variable: "OPERATOR_SDK", folder: t.TempDir(), env: variables}.run(t.Context(), args...)
		must(t, err)
		t.Logf("%s", out)
	}
	sdk("run", "bundle", previous.image)
	s.succeeded(previous)
	c := s.cluster("developed", v1beta2.EtcdClusterSpec{Size: 3})
	before := c.lives()
	sdk("run", "bundle-upgrade", this.image)
	s.succeeded(this)
	c.settled()
	c.untouched("run bundle-upgrade", before)

	sdk("cleanup", packageName, "--delete-all=false") // the clusters stay, and so do their CRDs
	csvs := &v1alpha1.ClusterServiceVersionList{}
	must(t, s.List(t.Context(), csvs, client.InNamespace(s.namespace)))
	if len(csvs.Items) > 0 {
		t.Errorf("operator-sdk has left %d ClusterServiceVersions", len(csvs.Items))
	}
	c.untouched("cleanup", before)
}

// TestScorecard has operator-sdk's and our own tests run beside an installed operator.
func TestScorecard(t *testing.T) {
	s := begin(t, "scorecard")
	s.catalog("ours", ours)
	s.group(s.namespace)
	s.subscribe(subscribed, "ours", v1alpha1.ApprovalAutomatic)
	s.succeeded(this)
	s.scorecardRights()
	sdk := program{variable: "OPERATOR_SDK", folder: t.TempDir()}
	out, failed := sdk.run(t.Context(), "scorecard", filepath.Join(env.Root, "bundle"),
		"--config="+s.scorecardConfig(), "--output=json", "--namespace="+s.namespace, "--service-account=etcd-operator-scorecard", "--pod-security=restricted", "--wait-time=20m",
		"--untar-image="+manager.UntarImage, "--storage-image="+manager.StorageImage)
	results := v1alpha3.TestList{}
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatalf("%v, %v: %s", failed, err, out)
	}
	var passed []string
	for _, test := range results.Items {
		for _, r := range test.Status.Results {
			suggestions := slices.DeleteFunc(r.Suggestions, packaging.Unwanted)
			if r.State != v1alpha3.PassState || len(r.Errors)+len(suggestions) > 0 {
				t.Errorf("%s: %s, errors %q, suggestions %q\n%s", test.Spec.Entrypoint, r.State, r.Errors, suggestions, r.Log)
				continue
			}
			t.Logf("%s: %s", test.Spec.Entrypoint, r.State)
			passed = append(passed, test.Spec.Labels["test"])
		}
	}
	for _, want := range []string{
		"basic-check-spec-test", "olm-bundle-validation-test", "olm-crds-have-validation-test", "olm-crds-have-resources-test",
		"olm-spec-descriptors-test", "olm-status-descriptors-test",
		"level-1-basic-install", "level-2-seamless-upgrades", "level-3-full-lifecycle",
	} {
		if !slices.Contains(passed, want) {
			t.Errorf("%s has not passed", want)
		}
	}
	must(t, failed)
	left := &v1beta2.EtcdClusterList{}
	must(t, s.List(t.Context(), left, client.InNamespace(s.namespace)))
	if len(left.Items) > 0 {
		t.Errorf("the tests have left %d EtcdClusters", len(left.Items))
	}
}

// scorecardConfig is the bundle's own, with the image of our own tests that was just built: a node that has an image of the
// released one's name runs that.
func (s *story) scorecardConfig() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(env.Root, "bundle", "tests", "scorecard", "config.yaml"))
	must(s.t, err)
	config := v1alpha3.Configuration{}
	must(s.t, yaml.Unmarshal(text, &config))
	for _, stage := range config.Stages {
		for i, test := range stage.Tests {
			if test.Entrypoint[0] == "scorecard-etcd" {
				stage.Tests[i].Image = scorecardImage
			}
		}
	}
	text, err = yaml.Marshal(config)
	must(s.t, err)
	file := filepath.Join(s.t.TempDir(), "config.yaml")
	must(s.t, os.WriteFile(file, text, 0o600))
	return file
}

// scorecardRights gives our own tests their service account in the story's namespace.
func (s *story) scorecardRights() {
	s.t.Helper()
	folder := s.t.TempDir()
	must(s.t, os.CopyFS(folder, os.DirFS(filepath.Join(env.Root, "config", "scorecard", "rbac"))))
	file := filepath.Join(folder, "kustomization.yaml")
	text, err := os.ReadFile(file)
	must(s.t, err)
	// What `kustomize edit set namespace` does.
	text = []byte(strings.Replace(string(text), "namespace: default", "namespace: "+s.namespace, 1))
	must(s.t, os.WriteFile(file, text, 0o600))
	must(s.t, env.Run(s.t.Context(), "apply", "--server-side", "-k", folder))
}
