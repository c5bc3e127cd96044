package olm

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/crane"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/version"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// TestReleased installs a release from its own catalog, named by the digest that the release lists, and takes the next one's catalog in its
// place. All images are those that make release has made, and etcd's that it has listed, from a mirror that knows their digests only: what
// asks for one of them by its tag gets none.
func TestReleased(t *testing.T) {
	first, second, err := released.Pair(t.Context(), env.Root, os.Getenv("VERSION"), os.Stderr)
	must(t, err)
	s := begin(t, "released")
	from, to := s.offered(first), s.offered(second)
	mirrored := s.mirrors(first, second)
	s.upgrades(from, to)
	s.byDigest(mirrored, s.namespace, s.namespace+"-busy", s.namespace+"-idle")
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

// listed are the images that a catalog has whoever mirrors a release copy.
var listed = regexp.MustCompile(`(?m)^ *(?:- )?image: (\S+)$`)

// mirrors makes the lab's registry one that has releases, and what they list, by digest only, and has every node pull anew. It returns the
// repositories.
func (s *story) mirrors(releases ...released.Release) (repositories []string) {
	s.t.Helper()
	var images []string
	for _, r := range releases {
		text, err := os.ReadFile(r.File("catalog-v" + r.Version + ".yaml"))
		must(s.t, err)
		for _, found := range listed.FindAllStringSubmatch(string(text), -1) {
			images = append(images, found[1])
		}
		own, err := r.Images()
		must(s.t, err)
		images = append(images, own...)
	}
	for _, image := range images {
		if !strings.Contains(image, "@sha256:") {
			s.t.Fatalf("the release lists %s, which a mirror of digests has not", image)
		}
		repositories = append(repositories, version.Repository(image))
	}
	slices.Sort(repositories)
	repositories = slices.Compact(repositories)
	if !slices.Contains(repositories, version.DefaultRepository) {
		s.t.Fatalf("the release lists no image of etcd: %q", images)
	}
	for _, repository := range repositories {
		must(s.t, nodes.Faults().BreakTags(s.t.Context(), repository))
		s.t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := nodes.Faults().MendTags(ctx, repository); err != nil {
				s.t.Error(err)
			}
		})
	}
	s.pulledAnew(images)
	return repositories
}

// pulledAnew takes images, and etcd's by their tags, away from all nodes, and wants the registry to have them by their digests only.
func (s *story) pulledAnew(images []string) {
	s.t.Helper()
	for _, v := range version.Tested {
		tag := version.Image("", v)
		images = append(images, tag)
		if got, err := crane.Digest(inRegistry(tag), crane.WithContext(s.t.Context())); err == nil {
			s.t.Fatalf("the registry has %s, %s: it was started by another version of the lab; make lab-down, and begin again", tag, got)
		}
	}
	list := &corev1.NodeList{}
	must(s.t, s.List(s.t.Context(), list))
	slices.Sort(images)
	for _, image := range slices.Compact(images) {
		if strings.Contains(image, "@") {
			_, err := crane.Digest(inRegistry(image), crane.WithContext(s.t.Context()))
			must(s.t, err)
		}
		for _, node := range list.Items {
			must(s.t, nodes.Faults().RemoveImage(s.t.Context(), node.Name, image))
		}
	}
}

// inRegistry is where nodes look for an image.
func inRegistry(image string) string {
	_, path, _ := strings.Cut(image, "/")
	return lab.Registry + "/" + path
}

// byDigest wants every container of what is mirrored to be asked for by digest, and members to be among them.
func (s *story) byDigest(mirrored []string, namespaces ...string) {
	s.t.Helper()
	members := 0
	for _, namespace := range namespaces {
		pods := &corev1.PodList{}
		must(s.t, s.List(s.t.Context(), pods, client.InNamespace(namespace)))
		for _, p := range pods.Items {
			for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
				repository := version.Repository(c.Image)
				if slices.Contains(mirrored, repository) && !strings.Contains(c.Image, "@sha256:") {
					s.t.Errorf("%s/%s asks for %s", namespace, p.Name, c.Image)
				}
				if repository == version.DefaultRepository {
					members++
				}
			}
		}
	}
	s.t.Logf("%d members run etcd by digest, and nothing of %q is asked for by its tag", members, mirrored)
	if members == 0 {
		s.t.Errorf("no pod in %q runs etcd", namespaces)
	}
}
