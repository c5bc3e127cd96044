package olm

import (
	"maps"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
)

// Images by the names that OLM and operator-sdk have for them.
const (
	olmImage     = "quay.io/operator-framework/olm"
	opmImage     = "quay.io/operator-framework/opm"
	testImage    = "quay.io/operator-framework/scorecard-test"
	untarImage   = "quay.io/operator-framework/scorecard-untar"
	storageImage = "quay.io/operator-framework/scorecard-storage"
	// baseImage is what "operator-sdk run bundle" unpacks with.
	baseImage = "registry.access.redhat.com/ubi9/ubi:9.7"
)

// user is who the images' programs run as: no root, and a number, so that the kubelet can tell.
const user = "1001"

// Tools lists the tools that OLM's images are made of, and the one that renders its chart.
func Tools() []string {
	return append(ServerTools(), build.OLM, build.OperatorSDK, build.Helm)
}

// ServerTools lists the tools that a server of a catalog is made of.
func ServerTools() []string { return []string{build.OPM, build.GRPCHealthProbe} }

// UntarImage is what operator-sdk at a version unpacks bundles with in the scorecard's pods. Its own name for it is a
// digest, and nothing else has that.
func UntarImage(sdkVersion string) string { return untarImage + ":" + sdkVersion }

// StorageImage is what operator-sdk at a version reads the files of the scorecard's tests with.
func StorageImage(sdkVersion string) string { return storageImage + ":" + sdkVersion }

// Images returns all images that OLM and operator-sdk start pods of. The tools are those of Tools; busybox is the
// image of a shell and the usual small programs.
func Images(tools map[string]build.Tool, busybox image.Spec) []addons.Image {
	sdk := tools[build.OperatorSDK]
	files := busybox
	files.User, files.Cmd = user, nil
	const test = "scorecard-test"
	return []addons.Image{
		{References: []string{olmImage + ":" + tools[build.OLM].Version}, Spec: olmSpec(tools[build.OLM], busybox)},
		{
			References: []string{opmImage + ":latest", opmImage + ":" + tools[build.OPM].Version},
			Spec:       opmSpec(tools, busybox),
		},
		{References: []string{testImage + ":" + sdk.Version}, Spec: image.Spec{
			Files: map[string]image.File{"/usr/local/bin/" + test: {Source: sdk.Path(test)}},
			User:  user, Entrypoint: []string{"/usr/local/bin/" + test},
		}},
		{References: []string{UntarImage(sdk.Version), StorageImage(sdk.Version)}, Spec: files},
		{References: []string{baseImage}, Spec: busybox},
	}
}

// olmSpec holds OLM's programs, and cp, with which OLM takes some of them to other pods.
func olmSpec(tool build.Tool, busybox image.Spec) image.Spec {
	files := map[string]image.File{
		"/bin/busybox": busybox.Files["/bin/busybox"], "/bin/cp": busybox.Files["/bin/cp"],
	}
	for name := range tool.Binaries {
		files["/bin/"+name] = image.File{Source: tool.Path(name)}
	}
	return image.Spec{Files: files, User: user, Entrypoint: []string{"/bin/olm"}}
}

// opmSpec is a server of catalogs, with a shell, by which operator-sdk starts it.
func opmSpec(tools map[string]build.Tool, busybox image.Spec) image.Spec {
	spec := image.CatalogServer(tools[build.OPM].Path(build.OPM), tools[build.GRPCHealthProbe].Path(build.GRPCHealthProbe))
	maps.Copy(spec.Files, busybox.Files)
	return spec
}
