package state

import (
	"fmt"
	"os"
	"path/filepath"
)

// Variable is the environment variable that moves the lab's state folder.
const Variable = "ETCD_OPERATOR_LAB"

// Dir is the state folder of one lab, an absolute path.
type Dir string

// Default returns the state folder: $ETCD_OPERATOR_LAB, or ~/.local/state/etcd-operator-lab.
func Default() (Dir, error) {
	if dir := os.Getenv(Variable); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", Variable, err)
		}
		return Dir(abs), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the state folder (set %s to choose one): %w", Variable, err)
	}
	return Dir(filepath.Join(home, ".local", "state", "etcd-operator-lab")), nil
}

// String returns the folder itself.
func (d Dir) String() string { return string(d) }

// Join returns a path below the folder.
func (d Dir) Join(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

// Kubeconfig is the administrator's kubeconfig.
func (d Dir) Kubeconfig() string { return d.Join("kubeconfig") }

// Config is the file that says what the lab was asked to be; without it there is no lab.
func (d Dir) Config() string { return d.Join("lab.json") }

// Lock is the file whose lock keeps two commands from changing the lab at once.
func (d Dir) Lock() string { return d.Join("lock") }

// PKI holds certificates and keys.
func (d Dir) PKI() string { return d.Join("pki") }

// Run holds one record for each process that was started.
func (d Dir) Run() string { return d.Join("run") }

// Logs holds one log file for each component. They outlive the lab, until the next one starts.
func (d Dir) Logs() string { return d.Join("log") }

// Log is the log file of one component.
func (d Dir) Log(component string) string { return filepath.Join(d.Logs(), component+".log") }

// Nodes holds one folder for each node.
func (d Dir) Nodes() string { return d.Join("nodes") }

// Node holds all that belongs to one node: containerd's and the kubelet's folders, and volumes.
func (d Dir) Node(name string) string { return d.Join("nodes", name) }

// Volumes holds the contents of the PersistentVolumes on one node.
func (d Dir) Volumes(node string) string { return filepath.Join(d.Node(node), "volumes") }

// Disks holds the images of the nodes' disks.
func (d Dir) Disks() string { return d.Join("disks") }

// Mounts holds the mount points of a node's disks.
func (d Dir) Mounts(node string) string { return filepath.Join(d.Node(node), "disks") }

// Broken lists the images that the registry is to deny.
func (d Dir) Broken() string { return d.Join("broken-images") }

// RegistryPKI holds the authority that vouches for the registry under the names of others.
func (d Dir) RegistryPKI() string { return d.Join("registry-pki") }

// Clock is there while the machine's clock is moved, and says what it was before.
func (d Dir) Clock() string { return d.Join("clock.json") }

// Addon holds all that belongs to one addon: its data, its certificates, its credentials.
func (d Dir) Addon(name string) string { return d.Join("addons", name) }
