package prometheus

import (
	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
)

// Images by upstream's names.
const (
	serverImage   = "quay.io/prometheus/prometheus"
	operatorImage = "quay.io/prometheus-operator/prometheus-operator"
	reloaderImage = "quay.io/prometheus-operator/prometheus-config-reloader"
)

// Programs that the tools have.
const (
	server   = "prometheus"
	operator = "operator"
	reloader = "prometheus-config-reloader"
)

// user is nobody, a number, so that the kubelet can tell that it is not root.
const user = "65534"

// Tools lists the tools that the images are made of.
func Tools() []string { return []string{build.PrometheusOperator, build.Prometheus} }

// Images returns all images that pods are started of. The tools are those of Tools.
func Images(tools map[string]build.Tool) []addons.Image {
	names := namesOf(tools)
	return []addons.Image{
		program(names.ServerImage, tools[build.Prometheus], server),
		program(names.OperatorImage, tools[build.PrometheusOperator], operator),
		program(names.ReloaderImage, tools[build.PrometheusOperator], reloader),
	}
}

// program is an image of one program of a tool. The operator starts it by this path, or as what the image runs.
func program(reference string, tool build.Tool, name string) addons.Image {
	path := "/bin/" + name
	return addons.Image{References: []string{reference}, Spec: image.Spec{
		Files: map[string]image.File{path: {Source: tool.Path(name)}}, Entrypoint: []string{path}, User: user,
	}}
}

// names is what depends on the versions of the tools.
type names struct {
	// ServerImage, OperatorImage and ReloaderImage are references.
	ServerImage, OperatorImage, ReloaderImage string
	// Release of Prometheus: the operator writes the configuration that this one understands.
	Release string
}

func namesOf(tools map[string]build.Tool) names {
	release := "v" + build.PrometheusRelease(tools[build.Prometheus].Version)
	version := tools[build.PrometheusOperator].Version
	return names{
		ServerImage: serverImage + ":" + release, Release: release,
		OperatorImage: operatorImage + ":" + version, ReloaderImage: reloaderImage + ":" + version,
	}
}
