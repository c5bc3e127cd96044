package olm

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// catalogFolder is where a catalog's image has its files, and configsLabel says so.
const (
	catalogFolder = "/configs"
	configsLabel  = "operators.operatorframework.io.index.configs.v1"
)

// Bundle is the image of a bundle, as bundle.Dockerfile makes it of the same folder: its manifests, metadata and
// tests, and the annotations of its metadata as labels.
func Bundle(folder string) (image.Spec, error) {
	file := filepath.Join(folder, "metadata", "annotations.yaml")
	data, err := os.ReadFile(file) // #nosec G304 -- a file of the caller's bundle
	if err != nil {
		return image.Spec{}, fmt.Errorf("read the bundle's annotations: %w", err)
	}
	var metadata struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := yaml.Unmarshal(data, &metadata); err != nil {
		return image.Spec{}, fmt.Errorf("parse the bundle's annotations in %s: %w", file, err)
	}
	if len(metadata.Annotations) == 0 {
		return image.Spec{}, fmt.Errorf("the bundle's %s has no annotations", file)
	}
	files, err := image.Folder(folder, "/")
	if err != nil {
		return image.Spec{}, fmt.Errorf("read the bundle: %w", err)
	}
	return image.Spec{Files: files, Labels: metadata.Annotations}, nil
}

// Catalog is the image of a file-based catalog: its files and a server of them. The tools are those of
// ServerTools.
func Catalog(folder string, tools map[string]build.Tool, busybox image.Spec) (image.Spec, error) {
	files, err := image.Folder(folder, catalogFolder)
	if err != nil {
		return image.Spec{}, fmt.Errorf("read the catalog: %w", err)
	}
	if len(files) == 0 {
		return image.Spec{}, errors.New("the catalog's folder " + folder + " has no files")
	}
	spec := opmSpec(tools, busybox)
	maps.Copy(spec.Files, files)
	spec.Cmd = []string{"serve", catalogFolder}
	spec.Labels = map[string]string{configsLabel: catalogFolder}
	return spec, nil
}
