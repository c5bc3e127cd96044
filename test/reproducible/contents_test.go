package reproducible

import (
	"archive/zip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// image is the name by digest of an image of the release.
func (r release) image(t *testing.T, base string) string {
	t.Helper()
	for _, reference := range strings.Fields(r.text(t, "images.txt")) {
		if strings.Contains(reference, "/"+base+"@") {
			return reference
		}
	}
	t.Fatalf("there is no image %s", base)
	return ""
}

// testManifests wants all that installs the operator to name its image and etcd's by digest, and what offers it the bundle.
func (r release) testManifests(t *testing.T) {
	operator, bundle := r.image(t, "etcd-operator"), r.image(t, "etcd-operator-bundle")
	rendered := run(t, string(r), nil, tool(t, "helm")+" template any etcd-operator-"+version+".tgz --kube-version 1.33.0 --namespace etcd-operator-system")
	offered := map[string]string{}
	for file, content := range r.contentsOf(t, "etcd-operator-bundle") {
		offered[file] = string(content)
	}
	csv := offered["manifests/etcd-operator.clusterserviceversion.yaml"]
	if scorecard := offered["tests/scorecard/config.yaml"]; !strings.Contains(scorecard, r.image(t, "etcd-operator-scorecard")) {
		t.Errorf("the bundle's tests are in another image:\n%s", scorecard)
	}
	catalogFile := "configs/etcd-operator/v" + version + ".yaml"
	served := string(r.contentsOf(t, "etcd-operator-catalog")[catalogFile])
	for what, text := range map[string]string{
		"install.yaml": r.text(t, "install.yaml"), "install-namespaced.yaml": r.text(t, "install-namespaced.yaml"), "the chart": rendered, "the bundle": csv,
		"the catalog": served,
	} {
		if !strings.Contains(text, operator) {
			t.Errorf("%s does not name the image %s", what, operator)
		}
		if strings.Contains(text, "/etcd-operator:v") || strings.Contains(text, "coreos/etcd:") || strings.Contains(text, "controller:latest") {
			t.Errorf("%s names an image by its tag", what)
		}
	}
	if !strings.Contains(served, `features.operators.openshift.io/disconnected: "true"`) {
		t.Error("the catalog does not say that mirrors will do that have digests only")
	}
	if !strings.Contains(served, "image: "+bundle) || served != r.text(t, "catalog-v"+version+".yaml") {
		t.Errorf("the catalog does not offer %s, or the next one would not", bundle)
	}
	if crds := r.text(t, "crds.yaml"); strings.Count(crds, "\nkind: CustomResourceDefinition\n") != 5 || strings.Count(crds, "\nkind:") != 5 {
		t.Error("crds.yaml has something else than the five CRDs")
	}
	dir := t.TempDir()
	for file, content := range r.contentsOf(t, "etcd-operator-catalog") {
		if name, found := strings.CutPrefix(file, "configs/etcd-operator/"); found {
			write(t, filepath.Join(dir, name), content)
		}
	}
	run(t, dir, nil, tool(t, "opm")+" validate .")
}

// contentsOf are the files of an image for the first architecture.
func (r release) contentsOf(t *testing.T, base string) map[string][]byte {
	t.Helper()
	index := r.index(t, base)
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	img, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return contents(t, img)
}

// testPlugin has krew judge the manifest, and install the plugin by it.
func (r release) testPlugin(t *testing.T) {
	run(t, string(r), nil, tool(t, "krew/validate-krew-manifest")+" -manifest etcd.yaml -skip-install")
	dir, here := t.TempDir(), runtime.GOOS+"/"+runtime.GOARCH
	run(t, string(r), []string{"KREW_ROOT=" + dir}, tool(t, "krew/krew")+" install --manifest=etcd.yaml --archive="+packed(here))
	if help := run(t, dir, nil, "bin/kubectl-etcd --help"); !strings.Contains(help, "doctor") {
		t.Errorf("installed by krew, it says\n%s", help)
	}
}

// testSBOMs compares the SBOMs with the programs in the images and in the archives.
func (r release) testSBOMs(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, nil, "tar -xf "+r.file("sboms.tar.gz"))
	for base, programs := range published {
		index := r.index(t, base)
		manifest, err := index.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range manifest.Manifests {
			img, err := index.Image(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			files := contents(t, img)
			for _, program := range programs {
				file := filepath.Join(t.TempDir(), "program")
				write(t, file, files[program])
				bom := strings.ReplaceAll(filepath.Base(program), "_", "-") + ".cdx.json"
				wantModules(t, filepath.Join(dir, "linux-"+m.Platform.Architecture, bom), file)
			}
		}
	}
	for _, platform := range platforms(t, "PLUGIN_PLATFORMS") {
		bom := filepath.Join(dir, strings.ReplaceAll(platform, "/", "-"), "kubectl-etcd.cdx.json")
		wantModules(t, bom, r.plugin(t, platform))
	}
}

// plugin unpacks the plugin for a platform, and gives the path of the program.
func (r release) plugin(t *testing.T, platform string) string {
	t.Helper()
	dir, file := t.TempDir(), r.file(packed(platform))
	if !strings.HasSuffix(file, ".zip") {
		run(t, dir, nil, "tar -xf "+file)
		return filepath.Join(dir, "kubectl-etcd")
	}
	zipped, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = zipped.Close() }()
	if err := os.CopyFS(dir, zipped); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "kubectl-etcd.exe")
}
