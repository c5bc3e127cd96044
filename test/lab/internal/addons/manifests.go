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

	//go:embed manifests/server.yaml
	serverText string

	//go:embed manifests/certmanager.yaml
	certManagerText string

	certManager = template.Must(template.New("certmanager").Parse(certManagerText))
	diskVolume  = template.Must(template.New("disk").Parse(diskText))
	server      = template.Must(template.New("server").Parse(serverText))
	manifests   = template.Must(template.New("addons").Parse(
		corednsText + "---\n" + storageText))
)

// StorageNamespace is where the provisioners run.
const StorageNamespace = "local-path-storage"

// GrowingClass is the name of the StorageClass whose volumes grow, as far as Kubernetes knows.
const GrowingClass = "growing"

// SlowClass is the name of the StorageClass whose volumes are made late.
const SlowClass = "slow"

// SlowSeconds is how long volumes of SlowClass take at first.
const SlowSeconds = 120

// Provisioners lists the names of the deployments that make volumes.
func Provisioners() []string {
	var names []string
	for _, provisioner := range provisioners {
		names = append(names, provisioner.Name+"-provisioner")
	}
	return names
}

// provisioner is one that makes folders on nodes.
type provisioner struct {
	// Name that its objects begin with.
	Name string
	// Provisioner is what its classes call it.
	Provisioner string
	// Seconds that it waits with each volume.
	Seconds int
	// Timeout in seconds, after which it tries again.
	Timeout int
}

var provisioners = []provisioner{
	{"local-path", "rancher.io/local-path", 0, 120}, {"slow", "lab/slow", SlowSeconds, 3600},
}

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
		Provisioners                                    []provisioner
	}{network.DNSServiceIP, coreDNSImage, localPathImage, busyboxImages[0], nodes, provisioners})
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

// ServerNamespace is where the Services of servers outside the cluster are.
const ServerNamespace = "storage"

// Server returns the Service through which pods reach a server on a port of this machine, as if it were in the
// cluster, as NAME.storage.svc.
func Server(name string, port int) ([]byte, error) {
	var out bytes.Buffer
	err := server.Execute(&out, struct {
		Name, Namespace, Address string
		Port                     int
	}{name, ServerNamespace, network.HostIP, port})
	if err != nil {
		return nil, fmt.Errorf("render the Service of server %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// What of cert-manager is in the cluster.
const (
	// CertManagerNamespace is where the Secrets of ClusterIssuers are.
	CertManagerNamespace = "cert-manager"
	// SelfSigned is the name of a ClusterIssuer of that type.
	SelfSigned = "selfsigned"
)

// CertManager returns the Kubernetes objects of cert-manager, whose controllers are that user; all but its CRDs.
func CertManager(user string) ([]byte, error) {
	var out bytes.Buffer
	err := certManager.Execute(&out, struct{ Namespace, User, Issuer string }{CertManagerNamespace, user, SelfSigned})
	if err != nil {
		return nil, fmt.Errorf("render what cert-manager needs: %w", err)
	}
	return out.Bytes(), nil
}
