package released

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

// labRegistry is the lab's, and the folder in it where nodes look for what the release calls ghcr.io/etcdpilot/….
const labRegistry = lab.Registry + "/etcdpilot"

// Offer pushes the images and the chart to the lab's registry. make release-push replaces no version, so what an earlier run has pushed
// under this one is taken back first.
func (r Release) Offer(ctx context.Context, out io.Writer) error {
	return r.offer(ctx, labRegistry, out)
}

func (r Release) offer(ctx context.Context, registry string, out io.Writer) error {
	if err := r.takeBack(ctx, registry); err != nil {
		return err
	}
	return r.makes(ctx, out, "release-push", "REHEARSAL=yes", "REGISTRY="+registry)
}

// takeBack removes the tags of the version from a registry.
func (r Release) takeBack(ctx context.Context, registry string) error {
	images, err := r.Images()
	if err != nil {
		return err
	}
	tags := []string{registry + "/charts/etcd-operator:" + r.Version}
	for _, image := range images {
		base, _, _ := strings.Cut(path.Base(image), "@")
		tags = append(tags, registry+"/"+base+":v"+r.Version)
	}
	for _, tag := range tags {
		var refused *transport.Error
		err := crane.Delete(tag, crane.WithContext(ctx))
		if err != nil && (!errors.As(err, &refused) || refused.StatusCode != http.StatusNotFound) {
			return fmt.Errorf("take back %s: %w", tag, err)
		}
	}
	return nil
}
