package node

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// RemoveImage removes an image from the node's store, under all its names.
func (n *Node) RemoveImage(ctx context.Context, reference string) error {
	parsed, err := name.ParseReference(reference)
	if err != nil {
		return fmt.Errorf("parse the name of an image: %w", err)
	}
	// The library and containerd have different names for Docker's registry.
	full := strings.Replace(parsed.Name(), name.DefaultRegistry+"/", "docker.io/", 1)
	list, err := n.ctr(ctx, "images", "list")
	if err != nil {
		return err
	}
	names := sameImage(list, full)
	if len(names) == 0 {
		return nil
	}
	_, err = n.ctr(ctx, append([]string{"images", "remove", "--sync"}, names...)...)
	return err
}

// sameImage lists the names that an image has in a list of images, of which the first and third columns are the name
// and the digest. The kubelet's names for it are its digests.
func sameImage(list, full string) []string {
	digests := map[string]string{}
	var order []string
	for line := range strings.Lines(list) {
		const nameColumn, digestColumn = 0, 2
		if fields := strings.Fields(line); len(fields) > digestColumn {
			digests[fields[nameColumn]] = fields[digestColumn]
			order = append(order, fields[nameColumn])
		}
	}
	wanted, found := digests[full]
	if !found {
		return nil
	}
	var names []string
	for _, name := range order {
		if digests[name] == wanted {
			names = append(names, name)
		}
	}
	return names
}

// ctr runs containerd's own client on the images and containers of the kubelet.
func (n *Node) ctr(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"--address", filepath.Join(n.Dir(), "containerd.sock"), "--namespace", "k8s.io"}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(n.Programs.Containerd, "ctr"), args...) // #nosec G204 -- own commands
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("ctr %s on node %s: %w: %s",
			strings.Join(args[4:], " "), n.Name(), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
