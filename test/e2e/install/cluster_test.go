package install

import (
	"context"
	"fmt"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
)

// clusters are those that the installed operator looks after: busy has three members on volumes, and a client that writes and reads all the
// while, as more of them can have; idle has one member to begin with, and gets the edits.
type clusters struct {
	s          *story
	busy, idle *harness.Cluster
	all        []*harness.Cluster
	writers    []*harness.Writer
}

// namespace waits until there is no namespace of that name, and removes the one that will be there with all that is in it.
func (s *story) namespace(name string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "the namespace of an earlier run is gone", limit, s.Absent(name)))
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.RemoveNamespace(ctx, name, limit); err != nil {
			s.t.Error(err)
		}
	})
}

// clusters makes busy and idle, in namespaces that may be there.
func (s *story) clusters(first, second string) *clusters {
	s.t.Helper()
	c := &clusters{s: s, busy: s.cluster(first, "busy", harness.OnVolumes(3)), idle: s.cluster(second, "idle", v1beta2.EtcdClusterSpec{Size: 1})}
	c.all = []*harness.Cluster{c.busy, c.idle}
	c.settled()
	c.writes(c.busy)
	must(s.t, c.busy.Puts(s.t.Context(), "kept", 10))
	return c
}

// writes starts the client of a cluster.
func (c *clusters) writes(to *harness.Cluster) {
	c.s.t.Helper()
	writer, err := to.NewWriter(c.s.t.Context(), "")
	must(c.s.t, err)
	c.writers = append(c.writers, writer)
}

func (s *story) cluster(namespace, name string, spec v1beta2.EtcdClusterSpec) *harness.Cluster {
	s.t.Helper()
	c, err := s.NewCluster(s.t.Context(), namespace, name, spec)
	must(s.t, err)
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if object, err := c.Get(ctx); s.t.Failed() && err == nil {
			s.t.Logf("%s/%s at the end: %s\n%+v", namespace, name, harness.Words(object), object.Status)
		}
		if err := c.Remove(ctx, limit); err != nil {
			s.t.Error(err)
		}
	})
	return c
}

// settled waits until all are as asked for.
func (c *clusters) settled() {
	c.s.t.Helper()
	for _, one := range c.all {
		must(c.s.t, one.Healthy(c.s.t.Context(), limit))
		must(c.s.t, one.Settled(c.s.t.Context(), limit))
	}
}

// through wants nobody to notice what happens: no member is restarted or replaced, and none of the clients' operations fails, of which there
// are some after it has happened.
func (c *clusters) through(what string, happens func()) {
	c.s.t.Helper()
	ctx := c.s.t.Context()
	var before []map[string]string
	for _, one := range c.all {
		lives, err := one.Lives(ctx)
		must(c.s.t, err)
		before = append(before, lives)
	}
	for _, writer := range c.writers {
		_, err := writer.Report(ctx)
		must(c.s.t, err)
	}
	happens()
	c.judged(what, true)
	for i, one := range c.all {
		if err := one.LivedOn(ctx, before[i]); err != nil {
			c.s.t.Errorf("%s: %v", what, err)
		}
	}
	if err := c.busy.Has(ctx, "kept", 10); err != nil {
		c.s.t.Errorf("%s: %v", what, err)
	}
}

// judged wants the clients to have lost nothing until they have done some more, and to have noticed nothing if they are said to be undisturbed.
func (c *clusters) judged(what string, undisturbed bool) {
	c.s.t.Helper()
	for i, writer := range c.writers {
		c.s.works(what, writer)
		said, err := writer.Judge(c.s.t.Context(), undisturbed)
		c.s.t.Logf("%s: client %d: %s", what, i, said)
		if err != nil {
			c.s.t.Errorf("%s: client %d: %v", what, i, err)
		}
	}
}

// works waits until a client has done some more.
func (s *story) works(what string, writer *harness.Writer) {
	s.t.Helper()
	const some = 100
	begun, err := writer.Peek(s.t.Context())
	must(s.t, err)
	must(s.t, harness.Await(s.t.Context(), what+": the client works", limit, func(ctx context.Context) (string, bool) {
		r, err := writer.Peek(ctx)
		return fmt.Sprintf("%s, %v", r, err), err == nil && r.Operations-r.Failures >= begun.Operations-begun.Failures+some
	}))
}

// asks edits the size of the idle cluster.
func (c *clusters) asks(size int32) {
	c.s.t.Helper()
	must(c.s.t, c.idle.Edit(c.s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Size = size }))
}

// grown wants the operator of an image to have made the idle cluster's newest members.
func (c *clusters) grown(image string) {
	c.s.t.Helper()
	c.settled()
	pods, err := c.idle.Pods(c.s.t.Context())
	must(c.s.t, err)
	made := 0
	var seen []string
	for _, p := range pods {
		for _, container := range p.Spec.InitContainers {
			seen = append(seen, p.Name+" by "+container.Image)
			if container.Image == image {
				made++
			}
		}
	}
	if made != 2 {
		c.s.t.Errorf("of the idle cluster's members %d are by %s, want 2: %s", made, image, strings.Join(seen, ", "))
	}
}

// upgrades has a release take the place of the one before it, below the clusters, and wants it to carry out an edit.
func (c *clusters) upgrades(to released.Release, replicas int, how func()) {
	c.s.t.Helper()
	c.through("upgraded to "+to.Version, func() {
		how()
		c.s.leads(to, replicas)
		c.asks(3)
		c.grown(c.s.image(to))
	})
	c.s.allowed()
}

// allowed wants the operator to have been refused nothing that it asked Kubernetes for.
func (s *story) allowed() {
	s.t.Helper()
	if err := s.NothingForbidden(s.t.Context(), s.installed); err != nil {
		s.t.Error(err)
	}
}
