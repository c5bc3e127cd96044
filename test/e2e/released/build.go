package released

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// Build is an operator that make has built from a source tree, and that was never released.
type Build struct {
	// Stamp is what the operator calls itself. It is empty if that is not known.
	Stamp string
	// Image is the name of its image. Archive is a file with that image, empty if the lab has it already.
	Image, Archive string
	// Folder has dist/install.yaml, which installs it.
	Folder string
}

// Manifests is its install.yaml.
func (b Build) Manifests() string { return filepath.Join(b.Folder, "dist", "install.yaml") }

// archive and installer are the targets of a Makefile that At needs.
const archive, installer = "image-archive", "build-installer"

// At builds the operator of a commit in the repository of a source tree, in a clone of it in an empty folder, by the targets of that
// commit's own Makefile. Out gets what make prints.
func At(ctx context.Context, root, ref, folder string, out io.Writer) (Build, error) {
	commit, err := git(ctx, root, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return Build{}, fmt.Errorf("FROM is %q, which names no commit: %w", ref, err)
	}
	if err := lacks(ctx, root, commit, archive, installer); err != nil {
		return Build{}, err
	}
	tree := Release{Tree: folder}
	if err := tree.clone(ctx, root, commit); err != nil {
		return Build{}, err
	}
	stamp := "from-" + commit[:12]
	b := Build{Stamp: stamp, Image: "etcd-operator.local/etcd-operator:" + stamp, Archive: filepath.Join(folder, "dist", "image.tar"), Folder: folder}
	return b, runMake(ctx, folder, out, archive, installer, "IMG="+b.Image, "STAMP="+b.Stamp)
}

// Now writes the manifests by which a source tree, with what is in no commit, installs an image of its operator that the lab has.
func Now(ctx context.Context, root, image, folder string, out io.Writer) (Build, error) {
	b := Build{Image: image, Folder: folder}
	return b, runMake(ctx, root, out, installer, "IMG="+image, "DIST="+filepath.Join(folder, "dist"))
}

// lacks is an error if the Makefile of a commit has not all of these targets.
func lacks(ctx context.Context, root, commit string, targets ...string) error {
	text, err := git(ctx, root, "show", commit+":Makefile")
	if err != nil {
		return err
	}
	for _, target := range targets {
		if !strings.Contains(text, "\n"+target+":") {
			return fmt.Errorf("the Makefile of %s has no target %s, by which its operator could be built: name a later commit", commit, target)
		}
	}
	return nil
}

// runMake has make build targets in a folder, as at a prompt.
func runMake(ctx context.Context, folder string, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "make", args...)
	cmd.Dir, cmd.Env = folder, harness.WithoutMake(os.Environ())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make %s in %s: %w", strings.Join(args, " "), folder, err)
	}
	return nil
}
