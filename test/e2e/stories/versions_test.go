package stories

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// edition is a version of etcd that a story is told of; the operator's default if empty.
type edition string

// editions tells a story of each version in ETCD_VERSION, of all at the same time: it is for stories during which no other may run.
func editions(t *testing.T, tell func(*testing.T, edition)) {
	t.Helper()
	versions := env.EtcdVersions
	if len(versions) == 0 {
		versions = []string{""}
	}
	for _, version := range versions {
		name := version
		if name == "" {
			name = "default"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, edition(version))
		})
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
