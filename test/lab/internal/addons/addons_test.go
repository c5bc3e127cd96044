package addons

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

func TestManifestsPutVolumesBelowTheNodes(t *testing.T) {
	out, err := Manifests([]NodePath{{Name: "n1", Path: "/state/n1/volumes"}, {Name: "n2", Path: "/state/n2/volumes"}})
	if err != nil {
		t.Fatal(err)
	}
	config := regexp.MustCompile(`(?m)^\s+(\{.*"nodePathMap".*)$`).FindSubmatch(out)
	if config == nil {
		t.Fatalf("there is no configuration of the provisioner:\n%s", out)
	}
	var parsed struct {
		NodePathMap []struct {
			Node  string
			Paths []string
		}
	}
	if err := json.Unmarshal(config[1], &parsed); err != nil {
		t.Fatalf("%s: %v", config[1], err)
	}
	const nodes = 2
	if len(parsed.NodePathMap) != nodes || parsed.NodePathMap[1].Node != "n2" ||
		!slices.Equal(parsed.NodePathMap[1].Paths, []string{"/state/n2/volumes"}) {
		t.Errorf("the provisioner's paths are %+v", parsed)
	}
}

func TestManifestsOnlyNameImagesOfTheLab(t *testing.T) {
	out, err := Manifests(nil)
	if err != nil {
		t.Fatal(err)
	}
	images, err := Images(t.Context(), tools(t), "/pause")
	if err != nil {
		t.Skipf("the lab's packages are not on this machine: %v", err)
	}
	var known []string
	for _, image := range images {
		known = append(known, image.References...)
	}
	named := regexp.MustCompile(`image: "?([^"\s}]+)`).FindAllSubmatch(out, -1)
	if len(named) == 0 {
		t.Error("the manifests name no image")
	}
	for _, match := range named {
		if !slices.Contains(known, string(match[1])) {
			t.Errorf("%s is none of the lab's images %v", match[1], known)
		}
	}
	for _, version := range []string{"v3.5.34", "v3.5.35", "v3.6.15", "v3.6.16", "v3.7.2", "v3.7.3"} {
		if want := etcdImage + ":" + version; !slices.Contains(known, want) {
			t.Errorf("the lab lacks %s, it has %v", want, known)
		}
	}
}

// tools stands for programs that need not be built to say what goes into an image.
func tools(t *testing.T) map[string]build.Tool {
	t.Helper()
	return map[string]build.Tool{
		build.CoreDNS: {Version: "v1.14.7"}, build.LocalPath: {Version: "v0.0.30"},
		"etcd35-previous": {Version: "v3.5.34"}, "etcd36-previous": {Version: "v3.6.15"}, "etcd37-previous": {Version: "v3.7.2"},
		build.Etcd35: {Version: "v3.5.35"}, build.Etcd36: {Version: "v3.6.16"}, build.Etcd37: {Version: "v3.7.3"},
	}
}

func TestPinsAreTheImagesTags(t *testing.T) {
	builder, err := build.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, image := range map[string]string{build.CoreDNS: coreDNSImage, build.LocalPath: localPathImage} {
		tool, err := builder.Pinned(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(image, ":"+tool.Version) {
			t.Errorf("%s is pinned at %s, and its image is %s", name, tool.Version, image)
		}
	}
}

func TestDynamicBusyboxIsRefused(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkStatic(sh); err == nil || !strings.Contains(err.Error(), "busybox-static") {
		t.Errorf("checkStatic(%s) = %v, want an error that says what to install", sh, err)
	}
}

func TestServiceOfAServer(t *testing.T) {
	const port = 9000
	out, err := Server("minio", port)
	if err != nil {
		t.Fatal(err)
	}
	// Kubernetes joins slice and Service by the label, and neither port is checked against the other.
	for want, times := range map[string]int{
		"kind: Service": 1, "kind: EndpointSlice": 1, "namespace: storage": 2, "port: 9000": 2, "name: minio": 2,
		"kubernetes.io/service-name: minio": 1, "- addresses: [172.30.0.1]": 1,
	} {
		if got := strings.Count(string(out), want); got < times {
			t.Errorf("%q is %d times in the manifest, want %d:\n%s", want, got, times, out)
		}
	}
	if strings.Contains(string(out), "selector:") {
		t.Error("a Service with a selector gets its endpoints from Kubernetes")
	}
}
