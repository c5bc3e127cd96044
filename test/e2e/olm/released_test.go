package olm

import (
	"os"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/e2e/released"
)

// TestReleased installs a release from its own catalog, named by the digest that the release lists, and takes the next one's catalog in its
// place. All images are those that make release has made, by digest.
func TestReleased(t *testing.T) {
	first, second, err := released.Pair(t.Context(), env.Root, os.Getenv("VERSION"), os.Stderr)
	must(t, err)
	s := begin(t, "released")
	s.upgrades(s.offered(first), s.offered(second))
	image, err := second.Image("etcd-operator")
	must(t, err)
	operators, err := s.operators(t.Context())
	must(t, err)
	for _, p := range operators {
		if got := p.Spec.Containers[0].Image; got != image {
			t.Errorf("the operator is %s, and the release has %s", got, image)
		}
	}
}

// offered is a release in the lab's registry.
func (s *story) offered(r released.Release) offered {
	s.t.Helper()
	must(s.t, r.Offer(s.t.Context(), os.Stderr))
	catalog, err := r.Image("etcd-operator-catalog")
	must(s.t, err)
	s.t.Logf("release %s is in %s", r.Version, r.Folder())
	return offered{release{version: r.Version, csv: packageName + ".v" + r.Version}, catalog}
}
