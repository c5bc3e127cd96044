package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/cgroup"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/node"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/programs"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// maxStatePath is the longest path of a state folder: the kernel takes no longer path of a socket than 107 bytes, and
// the longest below it is nodes/n50/containerd.sock.ttrpc.
const maxStatePath = 107 - len("/nodes/n50/containerd.sock.ttrpc")

// startTimeout bounds the start of a lab whose programs are built.
const startTimeout = 4 * time.Minute

// Up returns a lab with all nodes Ready, DNS answering and a default StorageClass. A lab that is up already is
// returned as it is; what is missing of one that is not is started.
func Up(ctx context.Context, options Options) (*Lab, error) {
	if options.Nodes == 0 {
		options.Nodes = DefaultNodes
	}
	if options.Out == nil {
		options.Out = io.Discard
	}
	if options.Nodes < 1 || options.Nodes > network.MaxNodes {
		return nil, fmt.Errorf("a lab has from 1 to %d nodes, not %d", network.MaxNodes, options.Nodes)
	}
	dir, err := state.Default()
	if err != nil {
		return nil, err
	}
	if len(dir) > maxStatePath {
		return nil, fmt.Errorf("the path of the state folder %s is too long: %d bytes of at most %d",
			dir, len(dir), maxStatePath)
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("the lab needs root: it makes network namespaces, cgroups and mounts")
	}
	unlock, err := lock(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if lab, err := running(ctx, dir, options.Nodes); lab != nil || err != nil {
		return lab, err
	}
	return start(ctx, dir, options)
}

// running returns the lab if it is up, with all its processes alive.
func running(ctx context.Context, dir state.Dir, nodes int) (*Lab, error) {
	config, err := readConfig(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if config.Nodes != nodes {
		return nil, fmt.Errorf("the lab has %d nodes, not %d: take it down first", config.Nodes, nodes)
	}
	if !config.Complete {
		return nil, nil
	}
	lab, err := open(dir, config)
	if err != nil {
		return nil, err
	}
	status, err := lab.Status(ctx)
	if err != nil || !status.Healthy() {
		return nil, err
	}
	return lab, nil
}

func start(ctx context.Context, dir state.Dir, options Options) (*Lab, error) {
	if err := programs.EnsureDebian(ctx, options.Out); err != nil {
		return nil, err
	}
	builder, err := builder(options.Out)
	if err != nil {
		return nil, err
	}
	tools, err := programs.EnsureTools(ctx, builder, programs.Tools())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not up within %v", startTimeout))
	defer cancel()
	began := time.Now()
	_, _ = fmt.Fprintf(options.Out, "starting Kubernetes %s with %d nodes...\n",
		tools[build.Kubernetes].Version, options.Nodes)
	lab, err := prepare(ctx, dir, options.Nodes, tools)
	if err != nil {
		return nil, err
	}
	if err := lab.start(ctx, builder.Root, tools); err != nil {
		return nil, err
	}
	if err := lab.Addons().restart(ctx, options.Out); err != nil {
		return nil, err
	}
	if err := lab.NetworkPolicies().restart(ctx, options.Out); err != nil {
		return nil, err
	}
	if err := lab.CertManager().restart(ctx, options.Out); err != nil {
		return nil, err
	}
	lab.config.Complete = true
	_, _ = fmt.Fprintf(options.Out, "the lab is up after %s\n", time.Since(began).Round(time.Second))
	return lab, lab.config.write(dir)
}

// prepare makes all that is there before the first process: folders, certificates, cgroups and the bridge.
func prepare(ctx context.Context, dir state.Dir, nodes int, tools map[string]build.Tool) (*Lab, error) {
	if err := dir.Claim(); err != nil {
		return nil, err
	}
	for _, folder := range []string{dir.Run(), dir.Logs(), dir.Nodes(), dir.Join("bin")} {
		if err := os.MkdirAll(folder, 0o755); err != nil { // #nosec G301 -- containers enter folders below it
			return nil, fmt.Errorf("make the state folder: %w", err)
		}
	}
	config, err := readConfig(dir)
	if errors.Is(err, fs.ErrNotExist) {
		config.Made = absent(append(node.HostFolders(), network.NamespaceDir))
	} else if err != nil {
		return nil, err
	}
	if config.Complete {
		if err := network.Unpartition(ctx, nodeNames(nodes), nodeNames(nodes)...); err != nil {
			return nil, err
		}
	}
	config.Nodes, config.Complete = nodes, false
	config.Etcd = tools[build.Etcd36].Path("etcd")
	config.Programs = node.Programs{
		Kubernetes: tools[build.Kubernetes].Dir, Containerd: tools[build.Containerd].Dir, CNI: tools[build.CNI].Dir,
	}
	if err := config.write(dir); err != nil {
		return nil, err
	}
	lab, err := open(dir, config)
	if err != nil {
		return nil, err
	}
	if err := controlplane.EnsureCerts(dir, lab.certs); err != nil {
		return nil, err
	}
	if err := lab.cgroups.Create(controlPlaneCgroup); err != nil {
		return nil, err
	}
	return lab, network.EnsureHost(ctx)
}

func absent(folders []string) []string {
	var missing []string
	for _, folder := range folders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, folder)
		}
	}
	return missing
}

// start runs all processes. What does not wait for one another starts at the same time.
func (l *Lab) start(ctx context.Context, root string, tools map[string]build.Tool) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.startRegistry(groupCtx, root, tools) })
	group.Go(func() error { return l.startControlPlane(groupCtx) })
	for _, node := range l.nodes {
		group.Go(func() error {
			if err := l.Faults().FastLink(groupCtx, node.Name()); err != nil {
				return err
			}
			if err := node.CleanAfterKill(groupCtx); err != nil {
				return err
			}
			return node.StartRuntime(groupCtx)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, node := range l.nodes {
		// The program that shows the disks is there once the registry is.
		if err := l.Disks().mountAll(ctx, node.Name()); err != nil {
			return err
		}
		if err := node.StartAgents(); err != nil {
			return err
		}
	}
	return l.finish(ctx)
}

// controlPlaneCgroup holds the processes that run on the host.
const controlPlaneCgroup = cgroup.Root + "/control-plane"

// ensure starts a process of the host, or finds it running.
func (l *Lab) ensure(name string, args ...string) (process.Record, error) {
	return process.Ensure(l.hostSpec(name, args...))
}

// hostSpec says how a process of the host is run.
func (l *Lab) hostSpec(name string, args ...string) process.Spec {
	return process.Spec{
		Name: name, Args: args, Path: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		Join: l.cgroups.ProcsFiles(controlPlaneCgroup), LogFile: l.state.Log(name), RecordFile: l.recordFile(name),
	}
}

func (l *Lab) recordFile(component string) string {
	return filepath.Join(l.state.Run(), component+".json")
}

func (l *Lab) startControlPlane(ctx context.Context) error {
	l.parts.Lock()
	defer l.parts.Unlock()
	return l.plane().Start(ctx)
}

func (l *Lab) plane() *controlplane.Plane {
	return &controlplane.Plane{
		State: l.state, Certs: l.certs, Ensure: l.ensure,
		Programs: controlplane.Programs{Etcd: l.config.Etcd, Kubernetes: l.programs.Kubernetes},
	}
}
