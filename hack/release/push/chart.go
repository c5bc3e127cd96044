package push

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// folder is where charts are in the registry: they have the same names as images.
const folder = "charts"

// ChartVacant wants the version of a packed chart, NAME-VERSION.tgz, to be free, or to be of that content already.
func (r Registry) ChartVacant(ctx context.Context, file, chart, version string) error {
	_, _, err := r.lookUp(ctx, file, chart, version)
	return err
}

// Chart has Helm push a packed chart, NAME-VERSION.tgz, and returns what it is called there, by digest. If another content has its version,
// it is not pushed.
func (r Registry) Chart(ctx context.Context, helm, file, chart, version string) (name.Digest, error) {
	tag, found, err := r.lookUp(ctx, file, chart, version)
	if err != nil {
		return name.Digest{}, err
	}
	if !found {
		if err := r.helm(ctx, helm, file, tag.Scheme()); err != nil {
			return name.Digest{}, err
		}
	}
	pushed, err := remote.Head(tag, options(ctx)...)
	if err != nil {
		return name.Digest{}, fmt.Errorf("ask for %s: %w", tag, err)
	}
	return tag.Digest(pushed.Digest.String()), nil
}

// lookUp gives the tag of a packed chart, and whether the registry has it. That another content has it is an error.
func (r Registry) lookUp(ctx context.Context, file, chart, version string) (tag name.Tag, found bool, err error) {
	if tag, err = name.NewTag(string(r)+"/"+folder+"/"+chart+":"+version, name.StrictValidation); err != nil {
		return name.Tag{}, false, fmt.Errorf("REGISTRY: %w", err)
	}
	packed, err := os.Open(filepath.Clean(file))
	if err != nil {
		return name.Tag{}, false, fmt.Errorf("push the chart: %w", err)
	}
	defer func() { _ = packed.Close() }()
	want, _, err := v1.SHA256(packed)
	if err != nil {
		return name.Tag{}, false, fmt.Errorf("push the chart: %w", err)
	}
	got, found, err := layer(ctx, tag)
	if err == nil && found && got != want {
		err = taken(tag, got.String(), want.String())
	}
	return tag, found, err
}

func (r Registry) helm(ctx context.Context, helm, file, scheme string) error {
	args := []string{"push", file, "oci://" + string(r) + "/" + folder}
	if scheme == "http" {
		args = append(args, "--plain-http")
	}
	if output, err := exec.CommandContext(ctx, helm, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("helm %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}
