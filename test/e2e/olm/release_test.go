package olm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/yaml"
)

// packageName is what catalogs call the operator.
const packageName = "etcd-operator"

// previousVersion is lower than any that there will be.
const previousVersion = "0.0.1"

// release is one version of the operator as it is published.
type release struct {
	// version of the operator, and csv the name of its ClusterServiceVersion.
	version, csv string
	// folder holds the bundle, and image is the bundle's image.
	folder, image string
}

// publish makes the two releases from the repository's bundle, and the catalogs that offer them.
func publish(ctx context.Context, folder string) error {
	source := filepath.Join(env.Root, "bundle")
	bundle, err := manifests.GetBundleFromDir(source)
	if err != nil {
		return fmt.Errorf("read %s: %w", source, err)
	}
	released := bundle.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image
	run := rand.String(8) // a reference is unpacked once: what an earlier run of the tests has loaded is another one
	for _, one := range []struct {
		to                *release
		version, operator string
	}{
		{&previous, previousVersion, previousImage}, {&this, bundle.CSV.Spec.Version.String(), env.Image},
	} {
		*one.to = release{
			version: one.version, csv: packageName + ".v" + one.version,
			folder: filepath.Join(folder, one.version),
			image:  fmt.Sprintf("etcd-operator.local/bundle:v%s-%s", one.version, run),
		}
		if err := one.to.write(source, released, one.operator); err != nil {
			return err
		}
		if err := nodes.OLM().LoadBundle(ctx, one.to.image, one.to.folder); err != nil {
			return err
		}
	}
	older, err = offer(ctx, bundle, filepath.Join(folder, "older"), run, previous)
	if err != nil {
		return err
	}
	ours, err = offer(ctx, bundle, filepath.Join(folder, "ours"), run, previous, this)
	return err
}

// write writes the release's bundle: the repository's one with another version, and another image
// of the operator in the place of the released one.
func (r release) write(source, released, operator string) error {
	if err := os.CopyFS(r.folder, os.DirFS(source)); err != nil {
		return fmt.Errorf("copy the bundle: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(r.folder, "manifests", "*.clusterserviceversion.yaml"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("the bundle has %d ClusterServiceVersions: %w", len(files), err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	text = []byte(strings.ReplaceAll(string(text), released, operator))
	csv := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &csv.Object); err != nil {
		return fmt.Errorf("read %s: %w", files[0], err)
	}
	csv.SetName(r.csv)
	// What replaces what is the catalog's to say.
	unstructured.RemoveNestedField(csv.Object, "spec", "replaces")
	if err := unstructured.SetNestedField(csv.Object, r.version, "spec", "version"); err != nil {
		return fmt.Errorf("set the version: %w", err)
	}
	if text, err = yaml.Marshal(csv.Object); err != nil {
		return fmt.Errorf("write %s: %w", files[0], err)
	}
	return os.WriteFile(files[0], text, 0o600)
}

// offer makes a catalog of releases, each of which replaces the one before it, and returns its image.
func offer(ctx context.Context, bundle *manifests.Bundle, folder, run string, releases ...release) (string, error) {
	text := fmt.Sprintf("schema: olm.package\nname: %[1]s\ndefaultChannel: %[2]s\n---\n"+
		"schema: olm.channel\npackage: %[1]s\nname: %[2]s\nentries:\n", packageName, bundle.DefaultChannel)
	before := ""
	for _, r := range releases {
		text += fmt.Sprintf("- name: %s\n%s", r.csv, before)
		before = fmt.Sprintf("  replaces: %s\n", r.csv)
	}
	inside := filepath.Join(folder, packageName)
	if err := os.MkdirAll(inside, 0o755); err != nil {
		return "", err
	}
	opm := program{variable: "OPM", folder: filepath.Dir(folder)}
	for _, r := range releases {
		rendered, err := opm.run(ctx, "render", r.folder, "--output=yaml",
			"--migrate-level=bundle-object-to-csv-metadata", "--alpha-image-ref-template="+r.image)
		if err != nil {
			return "", err
		}
		text += "---\n" + strings.TrimPrefix(string(rendered), "---\n")
	}
	if err := os.WriteFile(filepath.Join(inside, "catalog.yaml"), []byte(text), 0o600); err != nil {
		return "", err
	}
	if _, err := opm.run(ctx, "validate", folder); err != nil {
		return "", err
	}
	reference := fmt.Sprintf("etcd-operator.local/catalog:%s-%s", filepath.Base(folder), run)
	return reference, nodes.OLM().LoadCatalog(ctx, reference, folder, os.Stderr)
}
