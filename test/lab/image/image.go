package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// File is one entry of an image. Exactly one of its fields is set.
type File struct {
	// Source is a file of this machine. Everyone may read it in the image, and execute it if its owner may here.
	Source string
	// Link is the target of a symbolic link.
	Link string
	// Content is the text of a small file.
	Content string
}

// Spec says what an image holds and how it runs. The same Spec and files give the same image.
type Spec struct {
	// Architecture that the image is for, in Go's words; this machine's if empty.
	Architecture string
	// Created is when the image was made, by its own account. The zero time says nothing of it.
	Created time.Time
	// Compressed has the layer take as little room as gzip can make it, for an image that travels beyond the machine.
	Compressed bool

	// Files maps each absolute path in the image to what is there. /tmp and /etc are always there.
	Files map[string]File
	// User that the entry point runs as: a name or a number, and a group after a colon. Empty means root.
	User string
	// Entrypoint is the command line, and Cmd the arguments that a container may replace.
	Entrypoint, Cmd []string
	// Env lists NAME=value pairs; PATH is set if it is not among them.
	Env []string
	// Labels of the image.
	Labels map[string]string
}

// Build makes the image.
func Build(spec Spec) (v1.Image, error) {
	content, err := archive(spec.Files)
	if err != nil {
		return nil, fmt.Errorf("build image: %w", err)
	}
	layer, err := layerOf(content, spec.Compressed)
	if err != nil {
		return nil, fmt.Errorf("build image: %w", err)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.Append(base, layer)
	if err != nil {
		return nil, fmt.Errorf("build image: %w", err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("build image: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", cmp.Or(spec.Architecture, runtime.GOARCH)
	file.Created = v1.Time{Time: spec.Created}
	file.Config = v1.Config{
		User: spec.User, Entrypoint: spec.Entrypoint, Cmd: spec.Cmd, Labels: spec.Labels, Env: withPath(spec.Env),
	}
	img, err = mutate.ConfigFile(img, file)
	if err != nil {
		return nil, fmt.Errorf("build image: %w", err)
	}
	return img, nil
}

// layerOf makes a layer of an archive.
func layerOf(content []byte, compressed bool) (mutate.Addendum, error) {
	if !compressed {
		return mutate.Addendum{Layer: static.NewLayer(content, types.OCIUncompressedLayer), MediaType: types.OCIUncompressedLayer}, nil
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
	return mutate.Addendum{Layer: layer, MediaType: types.OCILayer}, err
}

// Push sends an image to a registry that speaks plain HTTP, under a reference's repository and tag (latest
// if it names none). The reference's own registry is left out: a node of the lab asks its one registry for all.
func Push(ctx context.Context, img v1.Image, reference, registry string) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return fmt.Errorf("push image: %w", err)
	}
	target, err := name.NewTag(registry+"/"+tag.RepositoryStr()+":"+tag.TagStr(), name.Insecure)
	if err != nil {
		return fmt.Errorf("push image %s: %w", reference, err)
	}
	if err := remote.Write(target, img, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("push image %s: %w", reference, err)
	}
	return nil
}

// withPath adds the PATH that upstream images on an empty base have.
func withPath(env []string) []string {
	if slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "PATH=") }) {
		return env
	}
	return append(slices.Clone(env), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
}

// archive writes files as a tar stream, sorted and without times, so that the same files give the same layer.
func archive(files map[string]File) ([]byte, error) {
	var buffer bytes.Buffer
	buffer.Grow(room(files))
	writer := tar.NewWriter(&buffer)
	made := map[string]bool{".": true, "/": true}
	if err := makeDirs(writer, made, "tmp", "etc"); err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		entry := strings.TrimPrefix(path.Clean("/"+file), "/")
		if err := makeDirs(writer, made, parents(entry)...); err != nil {
			return nil, err
		}
		if err := add(writer, entry, files[file]); err != nil {
			return nil, fmt.Errorf("add %s: %w", file, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("close the layer: %w", err)
	}
	return buffer.Bytes(), nil
}

// room is about as much as the archive of files takes. Without it, growing step by step, that of large programs
// took nearly twice the memory.
func room(files map[string]File) int {
	const header = 1 << 10
	size := int64(header)
	for _, file := range files {
		size += header + int64(len(file.Content))
		if info, err := os.Stat(file.Source); err == nil {
			size += info.Size()
		}
	}
	return int(size)
}

// parents lists the folders above a path, the topmost first.
func parents(entry string) []string {
	var above []string
	for dir := path.Dir(entry); dir != "."; dir = path.Dir(dir) {
		above = append(above, dir)
	}
	slices.Reverse(above)
	return above
}

func makeDirs(writer *tar.Writer, made map[string]bool, dirs ...string) error {
	for _, dir := range dirs {
		if made[dir] {
			continue
		}
		made[dir] = true
		mode := int64(0o755)
		if dir == "tmp" {
			mode = 0o1777
		}
		if err := writer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: mode}); err != nil {
			return fmt.Errorf("make folder %s: %w", dir, err)
		}
	}
	return nil
}

func add(writer *tar.Writer, entry string, file File) error {
	switch {
	case file.Source != "":
		return addSource(writer, entry, file.Source)
	case file.Link != "":
		return writer.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: entry, Linkname: file.Link, Mode: 0o777})
	case file.Content != "":
		header := &tar.Header{Typeflag: tar.TypeReg, Name: entry, Mode: 0o644, Size: int64(len(file.Content))}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		_, err := io.WriteString(writer, file.Content)
		return err
	default:
		return errors.New("it has no source, link or content")
	}
}

func addSource(writer *tar.Writer, entry, source string) error {
	file, err := os.Open(source) // #nosec G304 -- the caller names what goes into its image
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("stat: %w", err)
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: entry, Size: info.Size(), Mode: modeOf(info)}
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(writer, file)
	return err
}

// modeOf is the same whatever the umask was when the file was made.
func modeOf(info os.FileInfo) int64 {
	const readable, executable, owner = 0o644, 0o755, 0o100
	if info.Mode().Perm()&owner != 0 {
		return executable
	}
	return readable
}
