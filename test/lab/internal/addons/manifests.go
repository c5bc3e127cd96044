package addons

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
)

// StorageClass is the name of the lab's default StorageClass.
const StorageClass = "standard"

// DiskClass is the name of the StorageClass whose volumes are made by hand: the nodes' disks.
const DiskClass = "disk"

var (
	//go:embed manifests/coredns.yaml
	corednsText string
	//go:embed manifests/storage.yaml
	storageText string

	//go:embed manifests/disk.yaml
	diskText string

	diskVolume = template.Must(template.New("disk").Parse(diskText))
	manifests  = template.Must(template.New("addons").Parse(
		corednsText + "---\n" + storageText))
)

// NodePath says where the volumes of a node are.
type NodePath struct {
	// Name of the node.
	Name string
	// Path is a folder of this machine.
	Path string
}

// Manifests returns the Kubernetes objects of the cluster's DNS and its default StorageClass.
func Manifests(nodes []NodePath) ([]byte, error) {
	var out bytes.Buffer
	err := manifests.Execute(&out, struct {
		DNS, CoreDNSImage, LocalPathImage, BusyboxImage string
		Nodes                                           []NodePath
	}{network.DNSServiceIP, coreDNSImage, localPathImage, busyboxImages[0], nodes})
	if err != nil {
		return nil, fmt.Errorf("render the cluster's additions: %w", err)
	}
	return out.Bytes(), nil
}

// DiskVolume returns the PersistentVolume of a disk.
func DiskVolume(name, node, path string, size int64) ([]byte, error) {
	var out bytes.Buffer
	err := diskVolume.Execute(&out, struct {
		Name, Node, Path, Class string
		Size                    int64
	}{name, node, path, DiskClass, size})
	if err != nil {
		return nil, fmt.Errorf("render the volume of disk %s: %w", name, err)
	}
	return out.Bytes(), nil
}
