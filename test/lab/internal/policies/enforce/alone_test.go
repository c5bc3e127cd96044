//go:build lab

package enforce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/policies"
)

// insideVariable marks the test that runs in namespaces of its own.
const insideVariable = "LAB_TEST_INSIDE"

// node is the name of the only node.
const node = "n1"

// TestAlone connects to a member under the NetworkPolicies that the operator writes, without a cluster: in a network namespace of its own
// that is a node, with a bridge to which every pod is connected, as in the lab. It needs root.
func TestAlone(t *testing.T) {
	if os.Getenv(insideVariable) == "" {
		cmd := exec.CommandContext(t.Context(), "unshare", "--net", "--mount", os.Args[0], "-test.run=^TestAlone$", "-test.v", "-test.timeout=2m")
		cmd.Env = append(os.Environ(), insideVariable+"=1")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	layOut(t)
	current := &atomic.Pointer[[]networkingv1.NetworkPolicy]{}
	cluster := enforce(t, current)
	listen(t, pods[0])
	for _, tc := range []struct {
		name, file string
		// reached are the ports that each pod reaches.
		reached map[string][]int
	}{
		{"no policy", "", map[string][]int{
			"member": ports, "stranger": ports, "client": ports, "operator": ports, "backup": ports, "restore": ports, "impostor": ports,
		}},
		{"Peers", "network-policy-peers.yaml", map[string][]int{
			"member": ports, "stranger": {2379, 2381, 8088, 9999}, "operator": {2379, 2381, 8088, 9999}, "backup": {2379, 2381, 8088, 9999},
		}},
		{"Strict", "network-policy-strict.yaml", map[string][]int{
			"member": {2379, 2380, 2381}, "stranger": {2381}, "client": {2379, 2381}, "operator": {2379, 2381, 8088},
			"backup": {2379, 2381}, "restore": {2379, 2381}, "impostor": {2381},
		}},
		{"no policy again", "", map[string][]int{"stranger": ports}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			current.Store(load(t, tc.file))
			cluster.mu.Lock()
			cluster.read = time.Time{} // what was said before would be used for a moment
			cluster.mu.Unlock()
			for from, reached := range tc.reached {
				reaches(t, from, reached)
			}
		})
	}
}

// ports are those of members, that of a restore's progress, and one of a container that a template adds.
var ports = []int{2379, 2380, 2381, 8088, 9999}

// pods are all there are; the first is the member that is connected to. The golden NetworkPolicies let everyone read metrics.
var pods = []corev1.Pod{
	labeled("ns", "target", map[string]string{"app": "etcd", "etcd_cluster": "c"}),
	labeled("ns", "member", map[string]string{"app": "etcd", "etcd_cluster": "c"}),
	labeled("ns", "stranger", map[string]string{"app": "etcd", "etcd_cluster": "another"}),
	labeled("ns", "client", map[string]string{"role": "client"}),
	labeled("operators", "operator", map[string]string{"app.kubernetes.io/name": "etcd-operator", "more": "x"}),
	labeled("ns", "backup", agent("backup")),
	labeled("ns", "restore", agent("restore")),
	labeled("elsewhere", "impostor", map[string]string{
		"app": "etcd", "etcd_cluster": "c", "role": "client", "app.kubernetes.io/name": "etcd-operator",
	}),
}

func labeled(namespace, name string, labels map[string]string) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
}

func agent(kind string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "etcd-operator", "app.kubernetes.io/component": "agent", "app.kubernetes.io/managed-by": "etcd-operator",
		"etcd.database.coreos.com/" + kind: "nightly",
	}
}

// layOut makes the node, its bridge, and a network namespace for each pod.
func layOut(t *testing.T) {
	t.Helper()
	// Where the names of network namespaces are, so that those of a lab are not touched.
	command(t, "mount --make-rprivate /")
	command(t, "mount -t tmpfs tmpfs "+filepath.Dir(network.NamespaceDir))
	if err := os.Mkdir(network.NamespaceDir, 0o750); err != nil {
		t.Fatal(err)
	}
	command(t, fmt.Sprintf("ip netns attach %s %d", network.Namespace(node), os.Getpid()))
	command(t, "ip link set lo up")
	command(t, "ip link add pods type bridge")
	command(t, "ip addr add 10.250.0.1/24 dev pods")
	command(t, "ip link set pods up")
	command(t, "sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1")
	for i := range pods {
		name, ip := pods[i].Name, fmt.Sprintf("10.250.0.%d", 10+i)
		pods[i].Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIPs: []corev1.PodIP{{IP: ip}}}
		command(t, "ip netns add "+name)
		command(t, fmt.Sprintf("ip link add v%d type veth peer name eth0 netns %s", i, name))
		command(t, fmt.Sprintf("ip link set v%d master pods up", i))
		command(t, "ip -n "+name+" addr add "+ip+"/24 dev eth0")
		command(t, "ip -n "+name+" link set eth0 up")
	}
}

func command(t *testing.T, line string) {
	t.Helper()
	args := strings.Fields(line)
	if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// enforce serves as on a node of the lab, with an API that knows the pods, and policies that change.
func enforce(t *testing.T, current *atomic.Pointer[[]networkingv1.NetworkPolicy]) *Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var list any
		switch r.URL.Path {
		case "/api/v1/pods":
			list = corev1.PodList{Items: pods}
		case "/api/v1/namespaces":
			all := corev1.NamespaceList{}
			for _, name := range []string{"ns", "operators", "elsewhere"} {
				all.Items = append(all.Items, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
					Name: name, Labels: map[string]string{corev1.LabelMetadataName: name},
				}})
			}
			list = all
		default:
			list = networkingv1.NetworkPolicyList{Items: *current.Load()}
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	ctx, stop := context.WithCancel(context.Background())
	cluster, done := &Cluster{Client: server.Client(), Server: server.URL, Log: t.Output()}, make(chan error, 1)
	go func() { done <- Serve(ctx, cluster) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := network.QueueTaken(os.Getpid(), policies.Queue)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	for range 2 { // it is no error that they are there
		if err := policies.Divert(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	return cluster
}

// load reads a NetworkPolicy as the operator's own tests have it.
func load(t *testing.T, file string) *[]networkingv1.NetworkPolicy {
	t.Helper()
	if file == "" {
		return &[]networkingv1.NetworkPolicy{}
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "internal", "resources", "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	policy := networkingv1.NetworkPolicy{}
	if err := yaml.UnmarshalStrict(data, &policy); err != nil {
		t.Fatal(err)
	}
	return &[]networkingv1.NetworkPolicy{policy}
}

// listen accepts connections to all ports of a pod until the test ends.
func listen(t *testing.T, pod corev1.Pod) {
	t.Helper()
	for _, port := range ports {
		var listener net.Listener
		err := inside(pod.Name, func() (err error) {
			listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp4", fmt.Sprintf("0.0.0.0:%d", port))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				accepted, err := listener.Accept()
				if err != nil {
					return
				}
				_ = accepted.Close()
			}
		}()
	}
}

// reaches connects from a pod to every port of the member.
func reaches(t *testing.T, from string, want []int) {
	t.Helper()
	// A packet that is dropped is sent again after a second: by then it is known that nobody lets it through.
	dialer := net.Dialer{Timeout: 800 * time.Millisecond}
	var got []int
	for _, port := range ports {
		err := inside(from, func() error {
			c, err := dialer.DialContext(t.Context(), "tcp4", fmt.Sprintf("%s:%d", pods[0].Status.PodIPs[0].IP, port))
			if err == nil {
				err = c.Close()
			}
			return err
		})
		var timeout net.Error
		switch {
		case err == nil:
			got = append(got, port)
		case !errors.As(err, &timeout) || !timeout.Timeout():
			t.Errorf("%s to %d: %v", from, port, err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s reaches %v, want %v", from, got, want)
	}
}

// inside runs a function in a pod's network namespace, in a thread of its own that ends with it.
func inside(name string, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked
		file, err := os.Open(filepath.Join(network.NamespaceDir, name))
		if err == nil {
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
			_ = file.Close()
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}
