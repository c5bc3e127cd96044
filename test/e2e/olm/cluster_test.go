package olm

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/history"
)

// cluster is an EtcdCluster that an installed operator looks after.
type cluster struct {
	*harness.Cluster
	s      *story
	writer *harness.Writer
}

// cluster makes an EtcdCluster in a namespace of its own and waits until it is as asked for.
func (s *story) cluster(name string, spec v1beta2.EtcdClusterSpec) *cluster {
	s.t.Helper()
	s.newNamespace(s.namespace + "-" + name)
	c := s.clusterIn(s.namespace+"-"+name, name, spec)
	c.settled()
	return c
}

// clusterIn makes an EtcdCluster in a namespace that is there.
func (s *story) clusterIn(namespace, name string, spec v1beta2.EtcdClusterSpec) *cluster {
	s.t.Helper()
	made, err := s.NewCluster(s.t.Context(), namespace, name, spec)
	must(s.t, err)
	c := &cluster{Cluster: made, s: s}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if object, err := c.Get(ctx); s.t.Failed() && err == nil {
			s.t.Logf("%s/%s at the end: %s\n%+v", namespace, name, harness.Words(object), object.Status)
		}
	})
	return c
}

func (c *cluster) settled() {
	c.s.t.Helper()
	must(c.s.t, c.Healthy(c.s.t.Context(), limit))
	must(c.s.t, c.Settled(c.s.t.Context(), limit))
}

func (c *cluster) resize(size int32) {
	c.s.t.Helper()
	must(c.s.t, c.Edit(c.s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Size = size }))
	c.settled()
}

// client starts a client that writes and reads all the while.
func (c *cluster) client() {
	c.s.t.Helper()
	var err error
	c.writer, err = c.NewWriter(c.s.t.Context(), "")
	must(c.s.t, err)
}

// judge wants that the client lost nothing, and that it noticed nothing if it is said to be undisturbed.
func (c *cluster) judge(what string, undisturbed bool) {
	c.s.t.Helper()
	ctx, t := c.s.t.Context(), c.s.t
	report, err := c.writer.Report(ctx)
	must(t, err)
	seen, err := c.writer.History(ctx)
	must(t, err)
	picture := filepath.Join(env.Root, "bin", "history-olm-"+c.Name+".html")
	verdict, err := history.Check(seen, time.Minute, picture)
	must(t, err)
	t.Logf("%s: %s; history of %d operations: %s", what, report, len(seen.Operations), verdict)
	if verdict.Bad() || report.Lost > 0 {
		t.Errorf("%s: the history is %s, the writer lost %d writes; see %s", what, verdict, report.Lost, picture)
	}
	if undisturbed && report.Failures > 0 {
		t.Errorf("%s: %s", what, report)
	}
}

// lives are the members' pods, and how often each of their containers was started.
func (c *cluster) lives() map[string]string {
	c.s.t.Helper()
	pods, err := c.Pods(c.s.t.Context())
	must(c.s.t, err)
	lives := map[string]string{}
	for _, p := range pods {
		text := string(p.UID)
		for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
			text += fmt.Sprintf(" %s %d", s.Name, s.RestartCount)
		}
		lives[p.Name] = text
	}
	return lives
}

// untouched checks that no member's pod was recreated or restarted since then.
func (c *cluster) untouched(what string, before map[string]string) {
	c.s.t.Helper()
	if after := c.lives(); !maps.Equal(before, after) || len(after) == 0 {
		c.s.t.Errorf("%s: the pods were %v and are %v", what, before, after)
	}
}

// kill ends a member's pod and waits until the operator has mended that.
func (c *cluster) kill() {
	c.s.t.Helper()
	pods, err := c.Pods(c.s.t.Context())
	must(c.s.t, err)
	must(c.s.t, c.KillPod(c.s.t.Context(), pods[0].Name))
	must(c.s.t, c.Recovered(c.s.t.Context(), pods[0].UID, limit))
}

// puts writes so many keys below a prefix.
func (c *cluster) puts(prefix string, n int) {
	c.s.t.Helper()
	for i := range n {
		must(c.s.t, c.Ask(c.s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("%s/%03d", prefix, i), prefix)
			return err
		}))
	}
}

// has checks that there are so many keys below a prefix.
func (c *cluster) has(prefix string, want int64) {
	c.s.t.Helper()
	must(c.s.t, c.Ask(c.s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		got, err := etcd.Get(ctx, prefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil && got.Count != want {
			c.s.t.Errorf("there are %d keys below %s, want %d", got.Count, prefix, want)
		}
		return err
	}))
}

// leftAlone checks that no one has done anything about an EtcdCluster.
func (c *cluster) leftAlone() {
	c.s.t.Helper()
	object, err := c.Get(c.s.t.Context())
	must(c.s.t, err)
	pods, err := c.Pods(c.s.t.Context())
	must(c.s.t, err)
	if object.Status.ObservedGeneration != 0 || len(object.Status.Conditions) != 0 || len(pods) != 0 {
		c.s.t.Errorf("%s/%s is outside and has %d pods: %s", c.Namespace, c.Name, len(pods), strings.TrimSpace(harness.Words(object)))
	}
}

// onVolumes is a cluster whose members have claims.
func onVolumes(size int32) v1beta2.EtcdClusterSpec {
	return v1beta2.EtcdClusterSpec{Size: size, Pod: &v1beta2.PodPolicy{
		PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}}
}
