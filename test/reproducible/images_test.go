package reproducible

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// machines are the architectures of images, and what their programs are for.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390,
}

// published are the images, and the programs in them.
var published = map[string][]string{
	"etcd-operator": {"manager", "agent", "member-run"}, "etcd-operator-scorecard": {"usr/local/bin/scorecard-etcd"},
	"etcd-operator-bundle": nil, "etcd-operator-catalog": {"bin/opm", "bin/grpc_health_probe"},
}

// testImages looks into each image for each architecture.
func (r release) testImages(t *testing.T) {
	commit := strings.TrimSpace(run(t, string(r), nil, "git rev-parse --short=12 HEAD"))
	listed := strings.Fields(r.text(t, "images.txt"))
	if len(listed) != len(published) {
		t.Errorf("the images are %q", listed)
	}
	for _, reference := range listed {
		pinned, err := name.NewDigest(reference)
		if err != nil {
			t.Fatal(err)
		}
		base := path.Base(pinned.Context().RepositoryStr())
		t.Run(base, func(t *testing.T) {
			index := r.index(t, base)
			if digest, err := index.Digest(); err != nil || digest.String() != pinned.DigestStr() {
				t.Errorf("%s is %s, %v", reference, digest, err)
			}
			wantEachArchitecture(t, base, commit, index)
		})
	}
}

// index reads the image of a file.
func (r release) index(t *testing.T, base string) v1.ImageIndex {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, nil, "tar -xf "+r.file(base+"-image.tar"))
	all, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has %+v, %v", manifest, err)
	}
	if got, want := manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"], "v"+version; got != want {
		t.Errorf("it is called %s, want %s", got, want)
	}
	index, err := all.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// wantEachArchitecture wants the image for all of them, of the version rather than of the commit.
func wantEachArchitecture(t *testing.T, base, commit string, index v1.ImageIndex) {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range manifest.Manifests {
		found = append(found, m.Platform.OS+"/"+m.Platform.Architecture)
		img, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		file, err := img.ConfigFile()
		if err != nil || file.Architecture != m.Platform.Architecture || file.Created.IsZero() {
			t.Errorf("%s: it says %+v, %v", m.Platform, file, err)
		}
		if called := file.Config.Labels["org.opencontainers.image.version"]; base == "etcd-operator" && called != "v"+version {
			t.Errorf("%s: it calls itself %s", m.Platform, called)
		}
		files := contents(t, img)
		wantContent(t, base, m.Platform.Architecture, commit, files)
		if base == "etcd-operator" {
			wantSize(t, m, img, files)
		}
	}
	if want := platforms(t, "PLATFORMS"); !slices.Equal(found, want) {
		t.Errorf("it is for %q, want %q", found, want)
	}
}

// most is how many bytes the operator's programs may have together: a fiftieth more than those in docs/benchmarks.md, which a patch release of
// a dependency may add.
var most = map[string]int{"amd64": 97_130_000, "arm64": 90_710_000, "ppc64le": 95_720_000, "s390x": 99_870_000}

// wantSize wants the operator's image not to grow unnoticed. What nodes pull is compressed, and logged: it follows from what the programs have.
func wantSize(t *testing.T, m v1.Descriptor, img v1.Image, files map[string][]byte) {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	pulled, programs := m.Size, 0
	for _, layer := range layers {
		compressed, err := layer.Size()
		if err != nil {
			t.Fatal(err)
		}
		pulled += compressed
	}
	for _, program := range published["etcd-operator"] {
		programs += len(files[program])
	}
	t.Logf("for %s its programs have %d bytes, and nodes pull %d", m.Platform, programs, pulled)
	if limit := most[m.Platform.Architecture]; programs > limit {
		t.Errorf("for %s its programs have %d bytes, more than %d: if that is meant, write it down in docs/benchmarks.md, and raise the limit", m.Platform, programs, limit)
	}
}

// wantContent looks at the programs of an image: whom they are for, and what they call themselves.
func wantContent(t *testing.T, base, architecture, commit string, files map[string][]byte) {
	t.Helper()
	for _, program := range published[base] {
		binary, err := elf.NewFile(bytes.NewReader(files[program]))
		if err != nil {
			t.Errorf("%s for %s: %v", program, architecture, err)
			continue
		}
		if binary.Machine != machines[architecture] {
			t.Errorf("%s for %s is for %s", program, architecture, binary.Machine)
		}
		info, err := buildinfo.Read(bytes.NewReader(files[program]))
		if err != nil {
			t.Fatal(err)
		}
		licenses := string(files["licenses/third-party-licenses.txt"])
		for _, module := range info.Deps {
			if !strings.Contains(licenses, "\n"+module.Path+"\n") {
				t.Errorf("%s has %s, whose license is not in the image", program, module.Path)
			}
		}
		if bytes.Contains(files[program], []byte(commit)) {
			t.Errorf("%s for %s calls itself by the commit %s, not v%s", program, architecture, commit, version)
		}
	}
	if base != "etcd-operator-bundle" && len(files["licenses/LICENSE"]) == 0 {
		t.Error("it lacks our license")
	}
}

// contents are the files of an image, by name.
func contents(t *testing.T, img v1.Image) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	reader := mutate.Extract(img)
	defer func() { _ = reader.Close() }()
	for entries := tar.NewReader(reader); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(entries); err != nil {
			t.Fatal(err)
		}
	}
}
