package lab

import (
	"context"

	"github.com/etcdpilot/etcd-operator/test/lab/image"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/registry"
)

// Registry is the address of the lab's registry, which speaks plain HTTP there. Nodes ask it for every image, whatever registry a name has.
const Registry = registry.Address

// RegistryEnvironment makes a program of this machine find every image, and every chart, in the lab's registry, as the nodes do. With it,
// TLS works with no server but the registry and the cluster.
func (l *Lab) RegistryEnvironment() (map[string]string, error) {
	return registry.ProxyEnvironment(l.state.RegistryPKI())
}

// Load makes an image available to the cluster under a reference. The image is a tar file as "docker save" writes,
// or a folder in the OCI image layout that holds one image.
func (l *Lab) Load(ctx context.Context, reference, path string) error {
	img, err := image.Load(path)
	if err != nil {
		return err
	}
	return image.Push(ctx, img, reference, registry.Address)
}

// LoadSpec builds an image and makes it available to the cluster under a reference.
func (l *Lab) LoadSpec(ctx context.Context, reference string, spec image.Spec) error {
	img, err := image.Build(spec)
	if err != nil {
		return err
	}
	return image.Push(ctx, img, reference, registry.Address)
}

// BreakImage makes the registry deny that it has an image, given as it is in a pod. A node that has the image needs no
// registry to run it: see RemoveImage. MendImage undoes it.
func (f Faults) BreakImage(_ context.Context, reference string) error {
	return registry.Broken(f.lab.state.Broken()).Break(reference)
}

// MendImage undoes BreakImage.
func (f Faults) MendImage(_ context.Context, reference string) error {
	return registry.Broken(f.lab.state.Broken()).Mend(reference)
}

// BreakTags makes the registry deny all tags of a repository, given as it is in a pod, as a mirror does that has images by digest only.
// MendTags undoes it.
func (f Faults) BreakTags(_ context.Context, repository string) error {
	return registry.Broken(f.lab.state.Broken()).BreakTags(repository)
}

// MendTags undoes BreakTags.
func (f Faults) MendTags(_ context.Context, repository string) error {
	return registry.Broken(f.lab.state.Broken()).MendTags(repository)
}

// RemoveImage removes an image from a node, under this and all its other names, so that the node must pull it again.
// Containers of it run on. The node must run; if it has no such image, nothing happens.
func (f Faults) RemoveImage(ctx context.Context, nodeName, reference string) error {
	node, err := f.lab.node(nodeName)
	if err != nil {
		return err
	}
	return node.RemoveImage(ctx, reference)
}
