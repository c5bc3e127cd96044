package image

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// catalogFolder is where a catalog's image has its files, and configsLabel says so.
const (
	catalogFolder = "/configs"
	configsLabel  = "operators.operatorframework.io.index.configs.v1"
)

// catalogUser is who serves a catalog: not root, and a number, so that the kubelet can tell.
const catalogUser = "1001"

// Bundle is the image of a bundle, as bundle.Dockerfile makes it of the same folder: its manifests, metadata and
// tests, and the annotations of its metadata as labels.
func Bundle(folder string) (Spec, error) {
	file := filepath.Join(folder, "metadata", "annotations.yaml")
	data, err := os.ReadFile(file) // #nosec G304 -- a file of the caller's bundle
	if err != nil {
		return Spec{}, fmt.Errorf("read the bundle's annotations: %w", err)
	}
	var metadata struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := yaml.Unmarshal(data, &metadata); err != nil {
		return Spec{}, fmt.Errorf("parse the bundle's annotations in %s: %w", file, err)
	}
	if len(metadata.Annotations) == 0 {
		return Spec{}, fmt.Errorf("the bundle's %s has no annotations", file)
	}
	files, err := Folder(folder, "/")
	if err != nil {
		return Spec{}, fmt.Errorf("read the bundle: %w", err)
	}
	return Spec{Files: files, Labels: metadata.Annotations}, nil
}

// CatalogServer is the image of what serves catalogs, with nothing to serve yet: opm, and the program with which OLM asks it
// whether it is well.
func CatalogServer(opm, probe string) Spec {
	return Spec{
		Files: map[string]File{"/bin/opm": {Source: opm}, "/bin/grpc_health_probe": {Source: probe}},
		User:  catalogUser, Entrypoint: []string{"/bin/opm"},
	}
}

// Catalog is the image of a file-based catalog: its files beside a server, which reads them when it starts.
func Catalog(folder string, server Spec) (Spec, error) {
	files, err := Folder(folder, catalogFolder)
	if err != nil {
		return Spec{}, fmt.Errorf("read the catalog: %w", err)
	}
	if len(files) == 0 {
		return Spec{}, fmt.Errorf("the catalog's folder %s has no files", folder)
	}
	maps.Copy(files, server.Files)
	server.Files = files
	server.Cmd = []string{"serve", catalogFolder}
	server.Labels = map[string]string{configsLabel: catalogFolder}
	return server, nil
}
