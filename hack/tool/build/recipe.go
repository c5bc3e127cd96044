package build

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// Names of the tools that a lab runs on.
const (
	Kubernetes = "kubernetes"
	Containerd = "containerd"
	CNI        = "cni"
	CoreDNS    = "coredns"
	LocalPath  = "local-path-provisioner"
	Etcd35     = "etcd35"
	Etcd36     = "etcd36"
	Etcd37     = "etcd37"
)

// KubernetesOldest is the oldest Kubernetes that the operator supports: of it there is only the API server.
const KubernetesOldest = "kubernetes-oldest"

// Names of the object stores that a lab may have.
const (
	MinIO   = "minio"
	FakeGCS = "fake-gcs-server"
	Azurite = "azurite"
)

// Names of the tools that run OLM, and that package for it.
const (
	OLM             = "olm"
	OPM             = "opm"
	OperatorSDK     = "operator-sdk"
	GRPCHealthProbe = "grpc-health-probe"
	Helm            = "helm"
)

// Names of the tools that collect metrics, and the one that has Kubernetes run them.
const (
	Prometheus         = "prometheus"
	PrometheusOperator = "prometheus-operator"
)

// recipe is how a tool is built, beyond what all share.
type recipe struct {
	ldflags string
	tags    string
	// takes says how long a first build takes on two cores.
	takes string
	// apart has a program built without the tool's others if it is asked for by name.
	apart bool
}

func recipeFor(tool, version string) recipe {
	switch tool {
	case Kubernetes, KubernetesOldest:
		// Kubernetes learns its version from the linker only; clients and the kubelet compare it.
		const pkg = "k8s.io/component-base/version."
		minor := strings.TrimPrefix(semver.MajorMinor(version), semver.Major(version)+".")
		return recipe{takes: "about 5 min", apart: true, ldflags: fmt.Sprintf("-X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s "+
			"-X %[1]sgitMinor=%[4]s -X %[1]sgitTreeState=clean",
			pkg, version, strings.TrimPrefix(semver.Major(version), "v"), minor)}
	case Containerd:
		return recipe{takes: "about 40 s", ldflags: "-X github.com/containerd/containerd/v2/version.Version=" + version}
	case CoreDNS, FakeGCS, "golangci-lint":
		return recipe{takes: "about 75 s"}
	case MinIO:
		return recipe{takes: "about 3 min"}
	case "hugo":
		return recipe{takes: "about 2 min"}
	case LocalPath:
		return recipe{takes: "about 10 s", ldflags: "-X main.VERSION=" + version}
	case Prometheus, PrometheusOperator:
		return metricsRecipe(tool, version)
	default:
		return packagingRecipe(tool, version)
	}
}

// metricsRecipe is for the tools that collect metrics.
func metricsRecipe(tool, version string) recipe {
	const name = "-X github.com/prometheus/common/version.Version="
	if tool == PrometheusOperator {
		return recipe{takes: "about 2 min", ldflags: name + strings.TrimPrefix(version, "v")}
	}
	return recipe{
		takes: "about 2 min", apart: true, ldflags: name + PrometheusRelease(version),
		// Of the ways to find targets only the one in use, without the clients of a dozen clouds.
		tags: "remove_all_sd,enable_kubernetes_sd",
	}
}

// PrometheusRelease returns what Prometheus calls the release that is a version of its Go module: 3.16.0 is v0.316.0, as the module keeps
// to major version 0. Another version is returned as it is, without its v.
func PrometheusRelease(version string) string {
	parts := moduleOfRelease.FindStringSubmatch(version)
	if parts == nil {
		return strings.TrimPrefix(version, "v")
	}
	return parts[1] + "." + strings.TrimPrefix(parts[2], "0") + parts[3]
}

// moduleOfRelease matches the module's version: the release's major, its minor in two digits, and the rest.
var moduleOfRelease = regexp.MustCompile(`^v0\.(\d)(\d\d)(\..+)$`)

// imageTags leave out of what reads images the C libraries for signatures and disks, which serve images that are stored
// on this machine: none is here. All such tools have the same tags, so that Go compiles what they share once.
const imageTags = "json1,containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper"

// packagingRecipe is for the tools that run OLM, or package for it: what they write names the version that wrote it.
func packagingRecipe(tool, version string) recipe {
	const framework = "-X github.com/operator-framework/"
	switch tool {
	case OLM:
		return recipe{
			takes:   "about 2 min",
			ldflags: framework + "operator-lifecycle-manager/pkg/version.OLMVersion=" + version,
		}
	case OPM:
		return recipe{
			takes: "about 2 min", tags: imageTags,
			ldflags: framework + "operator-registry/cmd/opm/version.opmVersion=" + version,
		}
	case OperatorSDK:
		const pkg = framework + "operator-sdk/internal/version."
		return recipe{
			takes: "about 2 min", tags: imageTags,
			ldflags: pkg + "Version=" + version + " " + pkg + "GitVersion=" + version + " " + pkg + "ImageVersion=" + version,
		}
	case Helm:
		return recipe{takes: "about 1 min", ldflags: "-X helm.sh/helm/v3/internal/version.version=" + version}
	default:
		return recipe{takes: "about 20 s"}
	}
}

// args is what the build depends on, as a command line. The programs are static, so that they run in images that hold
// nothing else.
func (r recipe) args() []string {
	args := []string{"build", "-trimpath", "-ldflags", strings.TrimSpace("-s -w " + r.ldflags)}
	if r.tags != "" {
		args = append(args, "-tags", r.tags)
	}
	return args
}

// command is the build's command line, without the packages. It has no tags but the recipe's, whatever GOFLAGS has, and
// nothing is compiled for debuggers that the linker leaves out: that takes a seventh of the time.
func (r recipe) command() []string {
	args := append(r.args(), "-gcflags=all=-dwarf=false")
	if r.tags == "" {
		args = append(args, "-tags=")
	}
	return args
}
