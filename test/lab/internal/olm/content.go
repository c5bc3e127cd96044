package olm

import (
	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// Catalog is the image of a file-based catalog: its files and a server of them. The tools are those of
// ServerTools.
func Catalog(folder string, tools map[string]build.Tool, busybox image.Spec) (image.Spec, error) {
	return image.Catalog(folder, opmSpec(tools, busybox))
}
