package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/registry"
)

// startRegistry starts the registry and fills it.
func (l *Lab) startRegistry(ctx context.Context, root string, tools map[string]build.Tool) error {
	bin := l.state.Join("bin")
	for _, program := range []string{"lab", "pause"} {
		if err := buildOwn(ctx, root, filepath.Join(bin, program)); err != nil {
			return err
		}
	}
	record, err := l.ensure("registry", filepath.Join(bin, "lab"), "registry",
		"--listen="+registry.Address, "--dir="+l.state.Join("registry"), "--broken="+l.state.Broken(),
		"--pki="+l.state.RegistryPKI())
	if err != nil {
		return err
	}
	if err := record.WaitReady(ctx, registry.Ready); err != nil {
		return err
	}
	images, err := addons.Images(ctx, tools, filepath.Join(bin, "pause"))
	if err != nil {
		return err
	}
	return pushAll(ctx, images)
}

// buildOwn builds one of the lab's own programs, which has the name of its file.
func buildOwn(ctx context.Context, root, file string) error {
	return compile(ctx, filepath.Join(root, "test", "lab"), "./cmd/"+filepath.Base(file), file)
}

// compile builds the program of a package, in the folder of its module.
func compile(ctx context.Context, module, pkg, file string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, pkg) // #nosec G204 -- own source
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the lab's own program %s: %w\n%s", filepath.Base(file), err, out)
	}
	return nil
}

// pushAll builds images and makes them available to the cluster.
func pushAll(ctx context.Context, images []addons.Image) error {
	for _, wanted := range images {
		img, err := image.Build(wanted.Spec)
		if err != nil {
			return err
		}
		for _, reference := range wanted.References {
			if err := image.Push(ctx, img, reference, registry.Address); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish adds what every cluster has, and waits until it works.
func (l *Lab) finish(ctx context.Context) error {
	paths := make([]addons.NodePath, 0, len(l.nodes))
	for _, name := range l.Nodes() {
		paths = append(paths, addons.NodePath{Name: name, Path: l.state.Volumes(name)})
	}
	manifests, err := addons.Manifests(paths)
	if err != nil {
		return err
	}
	if _, err := l.kubectl(ctx, manifests, "apply", "--server-side", "-f", "-"); err != nil {
		return fmt.Errorf("add DNS and storage to the cluster: %w", err)
	}
	_, err = l.ensure(resizerComponent, filepath.Join(l.state.Join("bin"), "lab"), resizerComponent,
		"--pki="+l.state.PKI())
	if err != nil {
		return err
	}
	// A namespace without its account refuses pods.
	account := func(ctx context.Context) error {
		_, err := l.kubectl(ctx, nil, "get", "serviceaccount", "default", "--namespace=default")
		return err
	}
	if err := process.Poll(ctx, account); err != nil {
		return fmt.Errorf("wait for the default service account: %w%s",
			err, process.LogTail(l.state.Log(controlplane.ControllerManager)))
	}
	for _, name := range l.Nodes() {
		if err := l.waitNode(ctx, name); err != nil {
			return err
		}
	}
	if err := l.rolledOut(ctx, "kube-system", "daemonset/coredns"); err != nil {
		return err
	}
	for _, name := range addons.Provisioners() {
		if err := l.rolledOut(ctx, addons.StorageNamespace, "deployment/"+name); err != nil {
			return err
		}
	}
	return nil
}

// rolledOut waits until all pods of a workload run.
func (l *Lab) rolledOut(ctx context.Context, namespace, workload string) error {
	if _, err := l.kubectl(ctx, nil, "rollout", "status", "--namespace="+namespace, workload); err != nil {
		return fmt.Errorf("wait for %s: %w", workload, errors.Join(err, l.explain(ctx, namespace)))
	}
	return nil
}

// waitNode waits until a node is Ready.
func (l *Lab) waitNode(ctx context.Context, name string) error {
	record, err := process.Read(l.recordFile(name + "-kubelet"))
	if err != nil {
		return err
	}
	return record.WaitReady(ctx, func(ctx context.Context) error {
		const once = "--timeout=2s"
		_, err := l.kubectl(ctx, nil, "wait", "--for=condition=Ready", "node/"+name, once)
		return err
	})
}
