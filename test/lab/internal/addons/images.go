package addons

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os/exec"
	"slices"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/node"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/programs"
)

const (
	coreDNSImage   = "registry.k8s.io/coredns/coredns:v1.14.7"
	localPathImage = "docker.io/rancher/local-path-provisioner:v0.0.30"
	etcdImage      = "quay.io/coreos/etcd"
)

// busyboxImages are the names that the one busybox image has.
var busyboxImages = []string{"docker.io/library/busybox:1.36", "docker.io/library/busybox:latest"}

// Image is an image under one or more names.
type Image struct {
	// References that the image is found under.
	References []string
	// Spec of the image.
	Spec image.Spec
}

// Images returns the images that a lab always has. The tools are all of programs.Tools; pause is the path of the
// sandbox's program.
func Images(ctx context.Context, tools map[string]build.Tool, pause string) ([]Image, error) {
	busybox, err := Busybox(ctx)
	if err != nil {
		return nil, err
	}
	images := []Image{
		{[]string{node.PauseImage}, single("/pause", pause, "65535:65535")},
		{[]string{coreDNSImage}, single("/coredns", tools[build.CoreDNS].Path("coredns"), "")},
		busybox,
		{
			[]string{localPathImage},
			single("/usr/local/bin/local-path-provisioner", tools[build.LocalPath].Path(build.LocalPath), ""),
		},
	}
	for _, name := range append(programs.OldEtcds(), build.Etcd36, build.Etcd37, build.Etcd35) {
		tool := tools[name]
		files := map[string]image.File{}
		for _, binary := range []string{"etcd", "etcdctl", "etcdutl"} {
			files["/usr/local/bin/"+binary] = image.File{Source: tool.Path(binary)}
		}
		// As upstream's: no entry point, and etcd itself is what runs if nothing else is asked for.
		spec := image.Spec{Files: files, Cmd: []string{"/usr/local/bin/etcd"}}
		images = append(images, Image{[]string{etcdImage + ":" + tool.Version}, spec})
	}
	return images, nil
}

// single is an image of one program.
func single(path, source, user string) image.Spec {
	return image.Spec{
		Files: map[string]image.File{path: {Source: source}}, Entrypoint: []string{path}, User: user,
	}
}

// Busybox is the image that has Debian's static busybox and a link for each of its applets.
func Busybox(ctx context.Context) (Image, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return Image{}, fmt.Errorf("find busybox: %w", err)
	}
	if err := checkStatic(path); err != nil {
		return Image{}, err
	}
	out, err := exec.CommandContext(ctx, path, "--list").Output() // #nosec G204 -- the program just found
	if err != nil {
		return Image{}, fmt.Errorf("list busybox's applets: %w", err)
	}
	files := map[string]image.File{
		"/bin/busybox": {Source: path},
		"/etc/passwd":  {Content: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"},
		"/etc/group":   {Content: "root:x:0:\nnobody:x:65534:\n"},
	}
	for applet := range bytes.FieldsSeq(out) {
		if name := string(applet); name != "busybox" {
			files["/bin/"+name] = image.File{Link: "busybox"}
		}
	}
	return Image{slices.Clone(busyboxImages), image.Spec{Files: files, Cmd: []string{"sh"}}}, nil
}

// checkStatic refuses a program that needs a loader, which an image of that program alone has not.
func checkStatic(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	dynamic := slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if dynamic {
		return fmt.Errorf("%s is not static: install the Debian package busybox-static", path)
	}
	return nil
}
