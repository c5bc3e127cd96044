package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/cgroup"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/node"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/registry"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// DefaultNodes is the number of nodes of a lab whose Options name none.
const DefaultNodes = 3

// ErrNotUp is returned where a lab must be up and none is.
var ErrNotUp = errors.New("the lab is not up")

// Options say what lab is wanted.
type Options struct {
	// Nodes is the number of nodes, from 1 to 50; 0 means DefaultNodes.
	Nodes int
	// Out gets lines that tell of progress; nil discards them.
	Out io.Writer
}

// Lab is a running lab. Its methods may be used from several goroutines, but not while Down runs.
type Lab struct {
	state    state.Dir
	config   config
	certs    *pki.Authority
	cgroups  cgroup.Host
	programs node.Programs
	nodes    []*node.Node
	// parts is held while parts of the control plane are started or ended: Keep and Faults are used at the same time.
	parts sync.Mutex
}

// config is what a lab was asked to be; it is kept in the state folder.
type config struct {
	Nodes    int           `json:"nodes"`
	Programs node.Programs `json:"programs"`
	// Etcd is the etcd server that the control plane runs on.
	Etcd string `json:"etcd"`
	// Made lists folders of the host that were not there before.
	Made []string `json:"made,omitempty"`
	// Complete is set once the lab has been up.
	Complete bool `json:"complete"`
}

// Attach returns the lab that runs on this machine, or ErrNotUp.
func Attach() (*Lab, error) {
	dir, err := state.Default()
	if err != nil {
		return nil, err
	}
	config, err := readConfig(dir)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !config.Complete) {
		return nil, ErrNotUp
	} else if err != nil {
		return nil, err
	}
	return open(dir, config)
}

func open(dir state.Dir, config config) (*Lab, error) {
	cgroups, err := cgroup.Detect()
	if err != nil {
		return nil, err
	}
	certs, err := pki.Ensure(dir.PKI())
	if err != nil {
		return nil, err
	}
	lab := &Lab{state: dir, config: config, certs: certs, cgroups: cgroups, programs: config.Programs}
	for number := 1; number <= config.Nodes; number++ {
		lab.nodes = append(lab.nodes, &node.Node{
			Number: number, Nodes: config.Nodes, State: dir, Certs: certs, Cgroups: cgroups,
			Programs: config.Programs, Registry: registry.Address,
		})
	}
	return lab, nil
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (l *Lab) Kubeconfig() string { return l.state.Kubeconfig() }

// Kubectl returns the path of a kubectl of the cluster's version.
func (l *Lab) Kubectl() string { return l.programs.Kubernetes + "/kubectl" }

// LogFile returns the path of the log of a component, such as kube-apiserver or n1-kubelet. Status lists them all.
func (l *Lab) LogFile(component string) string { return l.state.Log(component) }

// AuditLogs returns the files, oldest first, in which the API server notes the requests of the operator that config/default installs:
// lines of JSON, audit.k8s.io/v1, level Metadata. There are none if the lab was started by an earlier version of this package.
func (l *Lab) AuditLogs() ([]string, error) {
	files, err := filepath.Glob(controlplane.AuditLogs(l.state))
	if err != nil {
		return nil, fmt.Errorf("look for the API server's audit log: %w", err)
	}
	return files, nil // sorted
}

// Server returns the address of the Kubernetes API.
func (l *Lab) Server() string { return controlplane.Server }

// Nodes returns the names of the nodes: n1, n2 and so on.
func (l *Lab) Nodes() []string { return nodeNames(l.config.Nodes) }

func nodeNames(nodes int) []string {
	names := make([]string, 0, nodes)
	for number := 1; number <= nodes; number++ {
		names = append(names, network.NodeName(number))
	}
	return names
}

func (l *Lab) node(name string) (*node.Node, error) {
	for _, node := range l.nodes {
		if node.Name() == name {
			return node, nil
		}
	}
	return nil, fmt.Errorf("the lab has no node %q; it has %v", name, l.Nodes())
}

func readConfig(dir state.Dir) (config, error) {
	data, err := os.ReadFile(dir.Config())
	if err != nil {
		return config{}, fmt.Errorf("read what the lab is: %w", err)
	}
	var c config
	if err := json.Unmarshal(data, &c); err != nil {
		return config{}, fmt.Errorf("decode what the lab is (%s): %w", dir.Config(), err)
	}
	return c, nil
}

func (c config) write(dir state.Dir) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode what the lab is: %w", err)
	}
	if err := os.WriteFile(dir.Config(), append(data, '\n'), 0o644); err != nil { // #nosec G306 -- no secret
		return fmt.Errorf("write what the lab is: %w", err)
	}
	return nil
}

// lock keeps other commands from changing the lab meanwhile.
func lock(dir state.Dir) (unlock func(), err error) {
	if err := os.MkdirAll(string(dir), 0o755); err != nil { // #nosec G301 -- containers enter folders below it
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	file, err := os.OpenFile(dir.Lock(), os.O_CREATE|os.O_RDWR, 0o644) // #nosec G302 -- an empty file
	if err != nil {
		return nil, fmt.Errorf("open the lab's lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("another command is changing the lab (%s): %w", dir.Lock(), err)
	}
	return func() { _ = file.Close() }, nil
}

func builder(out io.Writer) (*build.Builder, error) {
	if out == nil {
		out = io.Discard
	}
	return build.New(out)
}
