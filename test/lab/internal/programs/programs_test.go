package programs

import (
	"maps"
	"slices"
	"testing"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

func TestLabsToolsArePinned(t *testing.T) {
	builder, err := build.New(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	etcd := []string{"etcd", "etcdctl", "etcdutl"}
	wants := map[string][]string{
		build.Kubernetes: {
			"kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubectl", "kubelet",
		},
		build.Containerd: {"containerd", "containerd-shim-runc-v2", "ctr"},
		build.CNI:        {"bridge", "host-local", "loopback", "portmap"},
		build.Etcd35:     etcd,
		build.Etcd36:     etcd,
		build.Etcd37:     etcd,
		build.MinIO:      {"minio", "mc"},
		build.FakeGCS:    {"fake-gcs-server"},
		build.Azurite:    {"azurite-blob"},

		build.OLM:             {"olm", "catalog", "package-server", "copy-content", "cpb"},
		build.OPM:             {"opm"},
		build.OperatorSDK:     {"operator-sdk", "scorecard-test"},
		build.GRPCHealthProbe: {"grpc-health-probe"},
		build.Helm:            {"helm"},
	}
	names := slices.Sorted(maps.Keys(wants))
	for _, name := range append(names, Tools()...) {
		tool, err := builder.Pinned(name)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, program := range wants[name] {
			if tool.Binaries[program] == "" {
				t.Errorf("tool %s lacks %s", name, program)
			}
		}
	}
}
