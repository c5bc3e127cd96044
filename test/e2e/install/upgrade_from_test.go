package install

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
)

// TestUpgradeFrom installs the operator of another commit, and upgrades to that of the tree as it is: other code, with other CRDs and other
// rights, takes over what the earlier one has recorded. Nobody notices, every object is valid and as it was, and the new operator backs up,
// restores, grows and updates what the earlier one has made.
func TestUpgradeFrom(t *testing.T) {
	if from == "" {
		t.Fatal("FROM is not set: use make test-upgrade FROM=…")
	}
	const busy, idle, secured = "upgrade-busy", "upgrade-idle", "upgrade-secured"
	s := begin(t)
	for _, namespace := range []string{busy, idle, secured} {
		s.namespace(namespace)
	}
	s.appliesBuild(earlier)
	c := s.clusters(busy, idle)
	c.secures(secured)
	snapshot := c.backsUp()
	was := c.objects()
	c.through("upgraded from "+from, func() {
		s.appliesBuild(now)
		c.stay(was)
		c.seen()
		c.asks(3)
		c.grown(now.Image)
		c.backedUpSince(snapshot)
	})
	c.through("applied once more", func() { s.changesNothing(now) })
	c.good()
	c.valid()
	c.restores(snapshot)
	c.changes()
	c.good()
	s.allowed()
}

// appliesBuild applies the manifests of a build, and waits until its operator acts.
func (s *story) appliesBuild(b released.Build) {
	s.t.Helper()
	s.types(released.Release{}, b.Folder, s.commands("install.md", "YAML", "dist/install.yaml", "make "))
	s.acts(b.Image, cmp.Or(b.Stamp, "starting"), 1)
}

// changesNothing applies the manifests of a build where they are applied: no CRD is written, and the operator runs on.
func (s *story) changesNothing(b released.Build) {
	s.t.Helper()
	crds, operators := s.crds(), s.operators()
	s.appliesBuild(b)
	s.sameCRDs("applied once more", crds)
	if again := s.operators(); !slices.Equal(again, operators) {
		s.t.Errorf("the operators were %q and are %q", operators, again)
	}
}

// operators are the UIDs of the operator's pods.
func (s *story) operators() (uids []string) {
	s.t.Helper()
	pods, err := s.Operators(s.t.Context(), s.installed)
	must(s.t, err)
	for _, p := range pods {
		uids = append(uids, string(p.UID))
	}
	slices.Sort(uids)
	return uids
}

// secures adds a cluster with TLS and a client of it, and names its version, which the others do not.
func (c *clusters) secures(namespace string) {
	c.s.t.Helper()
	secured := c.s.cluster(namespace, "secured", v1beta2.EtcdClusterSpec{
		Size: 3, Version: version.DefaultEtcd, TLS: &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}},
	})
	c.all = append(c.all, secured)
	c.settled()
	object, err := secured.Get(c.s.t.Context())
	must(c.s.t, err)
	if object.Spec.TLS == nil || object.Spec.TLS.Managed == nil || !strings.HasPrefix(object.Status.Endpoints[0], "https://") {
		c.s.t.Fatalf("%s does not know spec.tls.managed: name a later commit", from)
	}
	c.writes(secured)
}

// seen gives the members of every cluster a label, for which none is restarted, and waits until all have it: the operator knows them.
func (c *clusters) seen() {
	c.s.t.Helper()
	for _, one := range c.all {
		must(c.s.t, one.Edit(c.s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
			if spec.Pod == nil {
				spec.Pod = &v1beta2.PodPolicy{}
			}
			spec.Pod.Labels = map[string]string{"seen": "again"}
		}))
	}
	c.settled()
	for _, one := range c.all {
		pods, err := one.Pods(c.s.t.Context())
		must(c.s.t, err)
		for _, p := range pods {
			if p.Labels["seen"] != "again" {
				c.s.t.Errorf("%s/%s does not have the label that the spec asks for: %v", p.Namespace, p.Name, p.Labels)
			}
		}
	}
}

// changes has the new operator grow the cluster with TLS and update etcd below the other one's client.
func (c *clusters) changes() {
	c.s.t.Helper()
	t := c.s.t
	secured := c.all[len(c.all)-1]
	must(t, secured.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Size = 5 }))
	must(t, c.busy.Upgrade(t.Context(), slices.MaxFunc(version.Tested, strings.Compare), 2*limit))
	c.settled()
	c.judged("grown, and etcd updated", false)
	must(t, c.busy.Has(t.Context(), "kept", 10))
}
