package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const catalogDir = "catalog/etcd-operator"

// blob is what the tests read of the parts of a file-based catalog.
type blob struct {
	Schema         string `json:"schema"`
	Name           string `json:"name"`
	Image          string `json:"image"`
	DefaultChannel string `json:"defaultChannel"`
	Icon           struct {
		Data []byte `json:"base64data"`
	} `json:"icon"`
	Entries       []entry `json:"entries"`
	RelatedImages []image `json:"relatedImages"`
}

type entry struct {
	Name     string `json:"name"`
	Replaces string `json:"replaces"`
}

// TestCatalogIsValid has opm judge the catalog, and looks whether what it offers is this version.
func TestCatalogIsValid(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), asset(t, "TEST_ASSET_OPM"), "validate", "catalog")
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	c, blobs := readCSV(t), readCatalog(t)
	offer := one(t, blobs, "olm.package", "etcd-operator")
	if !bytes.Equal(offer.Icon.Data, read(t, "docs/icon.svg")) {
		t.Error("the package's icon is not docs/icon.svg")
	}
	channel := one(t, blobs, "olm.channel", offer.DefaultChannel)
	if head := head(channel); head != c.Metadata.Name {
		t.Errorf("channel %s ends in %q, and this version is %s: give it an entry in %s/channels.yaml",
			channel.Name, head, c.Metadata.Name, catalogDir)
	}
	bundle := one(t, blobs, "olm.bundle", c.Metadata.Name)
	if !strings.HasSuffix(bundle.Image, ":v"+c.Spec.Version) {
		t.Errorf("the bundle of version %s is in the image %q", c.Spec.Version, bundle.Image)
	}
	for _, related := range append(c.Spec.RelatedImages, image{Image: bundle.Image}) {
		if !slices.ContainsFunc(bundle.RelatedImages, func(i image) bool { return i.Image == related.Image }) {
			t.Errorf("whoever mirrors the catalog misses %s", related.Image)
		}
	}
}

func readCatalog(t *testing.T) []blob {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, catalogDir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var blobs []blob
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq("\n"+string(data), "\n---\n") {
			var b blob
			if err := yaml.Unmarshal([]byte(document), &b); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			blobs = append(blobs, b)
		}
	}
	return blobs
}

// one gives the only blob of a schema and name.
func one(t *testing.T, blobs []blob, schema, name string) blob {
	t.Helper()
	found := slices.DeleteFunc(slices.Clone(blobs), func(b blob) bool { return b.Schema != schema || b.Name != name })
	if len(found) != 1 {
		t.Fatalf("%d of %s %s, want 1", len(found), schema, name)
	}
	return found[0]
}

// head is the entry of a channel that none replaces.
func head(channel blob) string {
	for _, e := range channel.Entries {
		replaced := slices.ContainsFunc(channel.Entries, func(other entry) bool { return other.Replaces == e.Name })
		if !replaced {
			return e.Name
		}
	}
	return ""
}
