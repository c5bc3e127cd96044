package olm

import (
	"context"
	"maps"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
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
	t := c.s.t
	said, err := c.writer.Judge(t.Context(), undisturbed)
	t.Logf("%s: %s", what, said)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// lives are the members' pods, and how often each of their containers was started.
func (c *cluster) lives() map[string]string {
	c.s.t.Helper()
	lives, err := c.Lives(c.s.t.Context())
	must(c.s.t, err)
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

func (c *cluster) puts(prefix string, n int) {
	c.s.t.Helper()
	must(c.s.t, c.Puts(c.s.t.Context(), prefix, n))
}

func (c *cluster) has(prefix string, want int64) {
	c.s.t.Helper()
	if err := c.Has(c.s.t.Context(), prefix, want); err != nil {
		c.s.t.Error(err)
	}
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
