package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestImageByDigest wants the manifests, those of the bundle too, to name the operator's image by its digest everywhere if they are
// given that: what the manager runs, what members and agents run, and what a mirror needs.
func TestImageByDigest(t *testing.T) {
	const image = "registry.example.com:5000/etcd-operator@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	config := t.TempDir()
	if err := os.CopyFS(config, os.DirFS("config")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(config, "manager", "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, digest, _ := strings.Cut(image, "@")
	changed := strings.NewReplacer("newName: controller", "newName: "+name, "newTag: latest", "digest: "+digest).Replace(string(text))
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, places := range map[string]int{
		"default":   2, // the manager's image, and OPERATOR_IMAGE
		"manifests": 4, // RELATED_IMAGE_OPERATOR, and the annotation containerImage
	} {
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(config, folder))
		if err != nil {
			t.Fatal(err)
		}
		manifests, err := built.AsYaml()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(manifests), ": "+image+"\n"); got != places {
			t.Errorf("config/%s names the image by its digest in %d places, want %d", folder, got, places)
		}
		if strings.Contains(string(manifests), "controller:latest") {
			t.Errorf("config/%s names an image by a tag that nobody gave", folder)
		}
	}
}

// TestReleasedDigests wants the operator to understand every image of etcd whose digest releases have: it does not start with one that it
// does not, and what a variable pins is another version's where the two do not agree.
func TestReleasedDigests(t *testing.T) {
	text, err := os.ReadFile("hack/etcd-digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for image := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == '\n' }) {
		if strings.HasPrefix(image, "#") {
			continue
		}
		variable := "RELATED_IMAGE_ETCD_" + strings.ReplaceAll(version.OfImage(image), ".", "_") + "=" + image
		if pinned, err := version.PinnedBy([]string{variable}); err != nil || !slices.Equal(pinned, version.Pinned{image}) {
			t.Errorf("%s pins %q, %v", variable, pinned, err)
		}
	}
}
