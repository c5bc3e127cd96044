package stories

import (
	"cmp"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// edition is a version of etcd that a story is told of; the operator's default if empty.
type edition string

// told are the versions in ETCD_VERSION.
func told() (all []edition) {
	for _, version := range env.EtcdVersions {
		all = append(all, edition(version))
	}
	if len(all) == 0 {
		return []edition{""}
	}
	return all
}

// editions tells a story of each version in ETCD_VERSION, of as many at the same time as go test's -parallel allows.
func editions(t *testing.T, tell func(*testing.T, edition)) {
	t.Helper()
	for _, etcd := range told() {
		t.Run(cmp.Or(string(etcd), "default"), func(t *testing.T) {
			t.Parallel()
			tell(t, etcd)
		})
	}
}

// oneByOne tells a story of each version in ETCD_VERSION, and no other one meanwhile: its test does not call Parallel, because it writes so
// much, or fills the nodes.
func oneByOne(t *testing.T, tell func(*testing.T, edition)) {
	t.Helper()
	for _, etcd := range told() {
		t.Run(cmp.Or(string(etcd), "default"), func(t *testing.T) { tell(t, etcd) })
	}
}

// editionDisks gives every node disks of those names for each edition, until all editions are told: a member may get a disk that was made for
// another one's.
func editionDisks(t *testing.T, names ...string) {
	t.Helper()
	for _, etcd := range told() {
		for _, name := range names {
			disks(t, etcd.named(name))
		}
	}
}

// named is a name that no other edition of the story has.
func (e edition) named(name string) string {
	if e == "" {
		return name
	}
	return name + "-" + strings.ReplaceAll(string(e), ".", "-")
}

// begin is begin with a cluster of that version.
func (e edition) begin(t *testing.T, name string, spec v1beta2.EtcdClusterSpec) *story {
	t.Helper()
	spec.Version = string(e)
	return begin(t, e.named(name), spec)
}
