package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/cgroup"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

func example(t *testing.T) *Node {
	t.Helper()
	dir := state.Dir(t.TempDir())
	certs, err := pki.Ensure(dir.PKI())
	if err != nil {
		t.Fatal(err)
	}
	return &Node{
		Number: 2, Nodes: 3, State: dir, Certs: certs, Registry: "172.30.0.1:5000",
		Programs: Programs{Kubernetes: "/k8s", Containerd: "/containerd", CNI: "/cni"},
	}
}

func TestConfiguration(t *testing.T) {
	node := example(t)
	if err := node.writeConfig(); err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"containerd.toml": {
			`root = "` + node.Dir() + `/containerd"`, `bin_dirs = ["/cni"]`, `sandbox = "` + PauseImage + `"`,
			"restrict_oom_score_adj = true", "disable_apparmor = true",
		},
		"hosts/_default/hosts.toml": {`[host."http://172.30.0.1:5000"]`},
		"kubelet.yaml": {
			`cgroupRoot: "` + cgroup.Root + `/n2/pods"`, "failCgroupV1: false", "registryPullQPS: 0",
			"serializeImagePulls: false", "nodeStatusUpdateFrequency: 4s", `clusterDNS: ["10.96.0.10"]`,
		},
		"resolv.conf": {"nameserver 10.96.0.10\n"},
	} {
		data, err := os.ReadFile(filepath.Join(node.Dir(), file)) // #nosec G304 -- a file of the test
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(string(data), want) {
				t.Errorf("%s lacks %q:\n%s", file, want, data)
			}
		}
	}
}

func TestNetworkConfigurationGivesOutTheNodesRange(t *testing.T) {
	node := example(t)
	if err := node.writeConfig(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(node.Dir(), "cni", "10-lab.conflist"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Plugins []struct {
			IPAM struct {
				Ranges [][]struct {
					Subnet string `json:"subnet"`
				} `json:"ranges"`
			} `json:"ipam"`
		} `json:"plugins"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if got := list.Plugins[0].IPAM.Ranges[0][0].Subnet; got != "10.244.2.0/24" {
		t.Errorf("the pods' range is %s", got)
	}
}

func TestRuntimeStateGoesWithABoot(t *testing.T) {
	node := example(t)
	for _, folder := range HostFolders() {
		own := node.privateFolder(folder)
		if !strings.HasPrefix(own, node.Dir()+"/") {
			t.Errorf("%s of the node is %s, outside its folder", folder, own)
		}
		inState := strings.HasPrefix(own, filepath.Join(node.Dir(), "state")+"/")
		if inRun := strings.HasPrefix(folder, "/run/"); inRun != inState {
			t.Errorf("%s of the node is %s: only what is below /run is gone after a boot", folder, own)
		}
	}
	folders := HostFolders()
	folders[0] = "/"
	if slices.Contains(HostFolders(), "/") {
		t.Error("a caller can change the list")
	}
}

func TestUnknownContainer(t *testing.T) {
	node := example(t)
	if err := node.SignalContainer("absent", syscall.SIGINT); err == nil || !strings.Contains(err.Error(), "n2") {
		t.Errorf("SignalContainer = %v, want an error that names the node", err)
	}
	// The file of a container that is gone names a process of someone else: this test.
	dir := filepath.Join(node.Dir(), "state", "io.containerd.runtime.v2.task", "k8s.io", "stale")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	pid, err := json.Marshal(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "init.pid"), pid, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := node.SignalContainer("stale", syscall.SIGINT); err == nil || !strings.Contains(err.Error(), "no pod") {
		t.Errorf("SignalContainer of a stale id = %v, want a refusal", err)
	}
	if _, err := node.ContainerPID("stale"); err == nil || !strings.Contains(err.Error(), "no pod") {
		t.Errorf("ContainerPID of a stale id = %v, want a refusal", err)
	}
}
