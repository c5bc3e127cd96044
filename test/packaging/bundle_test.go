package packaging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// outdated is what operator-sdk warns of whenever it is asked for the validator operatorhub, whose successors are in the suite.
const outdated = `The "operatorhub" validator is deprecated`

// TestBundleIsValid has operator-sdk judge the bundle by all that it offers, as a catalog's owner would, and takes warnings for errors.
func TestBundleIsValid(t *testing.T) {
	for _, selector := range []string{"suite=operatorframework", "name=operatorhub", "name=good-practices", "name=community", "name=multiarch"} {
		t.Run(selector, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), asset(t, "TEST_ASSET_SDK"), "bundle", "validate", "bundle", "-o", "json-alpha1",
				"--select-optional", selector)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "PATH="+registryTool(t)+":"+os.Getenv("PATH"))
			var said bytes.Buffer
			cmd.Stderr = &said
			answer, runErr := cmd.Output()
			var result struct {
				Passed  bool
				Outputs []struct{ Type, Message string }
			}
			if err := json.Unmarshal(answer, &result); err != nil {
				t.Fatalf("%v: %v\n%s%s", runErr, err, answer, said.String())
			}
			if !result.Passed {
				t.Error("the bundle is not valid")
			}
			for _, output := range result.Outputs {
				if output.Type != "info" && !strings.Contains(output.Message, outdated) {
					t.Errorf("%s: %s", output.Type, output.Message)
				}
			}
		})
	}
}

// registryTool is a folder with a program docker that says of every image that it is there for PLATFORMS, which is what
// images are built for. The validator compares that with what the bundle says; a registry is not asked.
func registryTool(t *testing.T) string {
	t.Helper()
	type platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	type manifest struct {
		Platform platform `json:"platform"`
	}
	var manifests []manifest
	for name := range strings.SplitSeq(asset(t, "PLATFORMS"), ",") {
		system, architecture, _ := strings.Cut(name, "/")
		manifests = append(manifests, manifest{platform{architecture, system}})
	}
	answer, err := json.Marshal(map[string]any{"manifests": manifests})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ntest \"$1\" = pull || echo '%s'\n", answer)
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBundleNamesItsImages checks that whoever mirrors the related images has all that runs, and each once.
func TestBundleNamesItsImages(t *testing.T) {
	c := readCSV(t)
	var related []string
	for _, i := range c.Spec.RelatedImages {
		if slices.Contains(related, i.Image) {
			t.Errorf("%s is among the related images twice", i.Image)
		}
		related = append(related, i.Image)
	}
	for _, d := range c.Spec.Install.Spec.Deployments {
		for _, container := range d.Spec.Template.Spec.Containers {
			if !slices.Contains(related, container.Image) {
				t.Errorf("%s runs and is not among the related images %v", container.Image, related)
			}
			if named := c.Metadata.Annotations["containerImage"]; named != container.Image {
				t.Errorf("the annotation containerImage is %q, and %s runs", named, container.Image)
			}
		}
	}
	if got, want := c.Metadata.Name, "etcd-operator.v"+c.Spec.Version; got != want {
		t.Errorf("the bundle of version %s is called %s, want %s", c.Spec.Version, got, want)
	}
}

// TestBundleShowsEveryKind checks that a console has an example of each kind, one of a cluster that keeps its data, and knows what to show of
// each.
func TestBundleShowsEveryKind(t *testing.T) {
	c := readCSV(t)
	var examples []struct {
		Kind string
		Spec v1beta2.EtcdClusterSpec
	}
	if err := json.Unmarshal([]byte(c.Metadata.Annotations["alm-examples"]), &examples); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, example := range examples {
		count[example.Kind]++
		if pod := example.Spec.Pod; example.Kind == "EtcdCluster" &&
			(pod == nil || pod.PersistentVolumeClaimSpec == nil || example.Spec.VolumeReclaimPolicy != v1beta2.VolumeReclaimRetain) {
			t.Error("the example of an EtcdCluster loses its data")
		}
	}
	for _, kind := range []string{"EtcdCluster", "EtcdBackup", "EtcdRestore", "EtcdUser", "EtcdRole"} {
		if count[kind] != 1 {
			t.Errorf("%d examples of %s, want 1", count[kind], kind)
		}
		shown := slices.IndexFunc(c.Spec.Definitions.Owned, func(d crd) bool { return d.Kind == kind })
		if shown < 0 {
			t.Errorf("%s is not among the owned CRDs", kind)
			continue
		}
		if d := c.Spec.Definitions.Owned[shown]; len(d.Spec) == 0 || len(d.Status) == 0 {
			t.Errorf("%s has %d fields of spec and %d of status to show", kind, len(d.Spec), len(d.Status))
		}
	}
	if !bytes.Equal(c.Spec.Icon[0].Data, read(t, "docs/icon.svg")) {
		t.Error("the icon in config/manifests/bases is not docs/icon.svg: put the output of base64 -w0 docs/icon.svg there")
	}
}
