package stories

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// switchLimit is how long a switch may take: two updates of all members, and two minutes in between for clients to read what they are told.
const switchLimit = 15 * time.Minute

// TestSwitchTLS adds TLS to clusters that run without, and takes it away again, under a client that connects as its Secret says. A pod is
// killed on the way there, and on the way back. The client's operations are not to fail but for those that the kill costs, and in a cluster
// of one, which stops for each update.
func TestSwitchTLS(t *testing.T) {
	for name, spec := range map[string]v1beta2.EtcdClusterSpec{
		"switch-1": onVolumes(1), "switch-3": onVolumes(3), "switch-1-empty": {Size: 1}, "switch-3-empty": {Size: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, name, spec)
			s.settled()
			s.client()
			r := s.reader()
			s.switches("to TLS", "https", func() { r.runs(s.commands("tls.md", "Switch a running cluster", `"plaintextClients":"Allowed"`)) })
			r.runs(s.commands("tls.md", "Switch a running cluster", "kubectl wait"))
			s.keepsOut()
			s.switches("to plain text", "http", func() { r.runs(s.commands("tls.md", "Switch a running cluster", `"tls":null`)) })
			s.puts("plain", 1)
			must(t, s.writer.Stop(t.Context()))
		})
	}
}

// TestPlaintextClients starts a cluster that serves clients with and without TLS, and then has it serve TLS alone, which a client that uses
// TLS does not notice.
func TestPlaintextClients(t *testing.T) {
	t.Parallel()
	spec := overTLS(3)
	spec.TLS.PlaintextClients = v1beta2.PlaintextAllowed
	s := begin(t, "plaintext-clients", spec)
	s.settled()
	s.client()
	pods, err := s.Pods(t.Context())
	must(t, err)
	for _, pod := range pods {
		must(t, reads(t.Context(), net.JoinHostPort(pod.Status.PodIP, "2379"), nil))
		if reads(t.Context(), net.JoinHostPort(pod.Status.PodIP, "2380"), nil) == nil {
			t.Errorf("%s serves peers' port without TLS", pod.Name)
		}
	}
	start := time.Now()
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.TLS.PlaintextClients = "" }))
	must(t, harness.Await(t.Context(), "clients need TLS", switchLimit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return harness.Words(object), object.Status.Transport != nil && !object.Status.Transport.ClientBoth
	}))
	must(t, s.Settled(t.Context(), switchLimit))
	s.keepsOut()
	s.faultless("clients without TLS are refused", start)
	must(t, s.writer.Stop(t.Context()))
}

// switches has somebody edit spec.tls, kills a pod once members serve both, and waits until the switch is over.
func (s *story) switches(what, scheme string, edit func()) {
	s.t.Helper()
	start := time.Now()
	edit()
	must(s.t, harness.Await(s.t.Context(), what+": members serve both", switchLimit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return harness.Words(object), object.Status.Transport != nil && object.Status.Transport.ClientBoth
	}))
	s.faultless(what+", until it was decided on", start)
	if s.asked().Size > 1 { // the only member of a cluster is not killed: that fails in any case
		pods, err := s.Pods(s.t.Context())
		must(s.t, err)
		must(s.t, s.KillPod(s.t.Context(), pods[0].Name))
		must(s.t, harness.Await(s.t.Context(), "the pod is gone", limit, s.without(pods[0].UID)))
		must(s.t, harness.Await(s.t.Context(), "three pods are back", limit, s.whole))
		s.report(what + ", with a pod killed")
	}
	must(s.t, harness.Await(s.t.Context(), what+": done", switchLimit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		over := object.Status.Transport == nil || !object.Status.Transport.ClientBoth && !object.Status.Transport.PeerBoth
		return harness.Words(object), over && strings.HasPrefix(object.Status.Endpoints[0], scheme+"://")
	}))
	must(s.t, s.Settled(s.t.Context(), switchLimit))
	s.healthy(what)
	switch {
	case s.asked().Size == 1: // what is under way fails when the only member stops
		s.t.Logf("%s took %.1f s", what, time.Since(start).Seconds())
		s.report(what)
	case s.asked().Pod == nil: // what is under way on a member fails when it is removed
		s.faultless(what, start, "EOF", "raft: stopped", "connection reset", "context deadline exceeded")
	default:
		s.faultless(what, start)
	}
}

// neighbor is a container beside etcd that listens on port 2382 before etcd starts.
const neighbor = `{"spec": {"initContainers": [{
	"name": "neighbor", "image": "busybox", "imagePullPolicy": "IfNotPresent", "restartPolicy": "Always",
	"command": ["sh", "-c", "exec httpd -f -p 2382"], "startupProbe": {"tcpSocket": {"port": 2382}, "periodSeconds": 1},
	"securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}
}]}}`

// TestSwitchTurnsBack adds TLS to a cluster whose pods have no port left for it, and takes that back: the first member that is updated cannot
// start. Another one's pod is killed meanwhile, and comes back as it was, or the quorum would be gone for good.
func TestSwitchTurnsBack(t *testing.T) {
	t.Parallel()
	spec := onVolumes(3)
	spec.Pod.Template = &runtime.RawExtension{Raw: []byte(neighbor)}
	s := begin(t, "turns-back", spec)
	s.settled()
	s.client()
	ids, first := s.identities(), s.podUIDs()
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.TLS = &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	}))
	down := ""
	must(t, harness.Await(t.Context(), "a member was updated", switchLimit, func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx)
		for _, pod := range pods {
			if first[pod.Name] != pod.UID {
				down = pod.Name
			}
		}
		return fmt.Sprint(err), down != ""
	}))
	s.says(v1beta2.ConditionReady, v1beta2.ReasonUpdateStopped)
	for name := range first {
		if name == down {
			continue
		}
		must(t, s.KillPod(t.Context(), name))
		must(t, harness.Await(t.Context(), "the pod is gone", limit, s.without(first[name])))
		must(t, harness.Await(t.Context(), "two pods are ready", limit, s.readyPods(2)))
		break
	}
	s.report("the switch, with a pod killed")
	s.puts("meanwhile", 1)
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.TLS = nil }))
	must(t, s.Settled(t.Context(), switchLimit))
	s.healthy("turned back")
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	if object.Status.Transport != nil || !strings.HasPrefix(object.Status.Endpoints[0], "http://") {
		t.Errorf("clients are told to use %s, and members have %+v", object.Status.Endpoints, object.Status.Transport)
	}
	if now := s.identities(); !maps.Equal(now, ids) {
		t.Errorf("the members are %v, and were %v", now, ids)
	}
	s.report("turned back")
	s.puts("plain", 1)
	must(t, s.writer.Stop(t.Context()))
}

// podUIDs are those of the members' pods, by name.
func (s *story) podUIDs() map[string]types.UID {
	s.t.Helper()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	uids := map[string]types.UID{}
	for _, pod := range pods {
		uids[pod.Name] = pod.UID
	}
	return uids
}

func (s *story) asked() v1beta2.EtcdClusterSpec {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	return object.Spec
}

// without holds when no pod has the UID.
func (s *story) without(uid types.UID) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx)
		return fmt.Sprint(err), err == nil && !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.UID == uid })
	}
}

// whole holds when as many pods are Ready as there are to be members, at least.
func (s *story) whole(ctx context.Context) (string, bool) {
	return s.readyPods(int(s.asked().Size))(ctx)
}

// readyPods holds when so many pods are Ready, at least.
func (s *story) readyPods(want int) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx)
		if err != nil {
			return err.Error(), false
		}
		ready := 0
		for _, pod := range pods {
			for _, c := range pod.Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
					ready++
				}
			}
		}
		return fmt.Sprintf("%d of %d pods are ready", ready, len(pods)), ready >= want
	}
}
