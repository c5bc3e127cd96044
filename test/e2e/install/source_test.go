package install

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// TestFromSource makes the operator of a clone and pushes it to a registry of its own by the commands of the document, as whoever has a checkout and
// no docker does, installs it from there, and starts a cluster.
func TestFromSource(t *testing.T) {
	const namespace, example = "install-source", "registry.example.com/etcdpilot"
	s := begin(t)
	s.namespace(namespace)
	clone := released.Release{Version: this.Version, Tree: filepath.Join(t.TempDir(), "etcd-operator")}
	s.types(this, s.path, "git clone --quiet "+this.Tree+" "+clone.Tree)
	// What an earlier run has pushed for another commit is not replaced.
	commit := strings.TrimSpace(s.types(this, clone.Tree, "git rev-parse HEAD"))
	commands := s.commands("install.md", "From source", "make release-push")
	for old, other := range map[string]string{example: lab.Registry + "/from-source/" + commit, "linux/amd64": "linux/" + runtime.GOARCH} {
		if !strings.Contains(commands, old) {
			t.Fatalf("the commands have no %q: %s", old, commands)
		}
		commands = strings.ReplaceAll(commands, old, other)
	}
	s.typesWithin(20*time.Minute, clone, clone.Tree, commands)
	image := s.image(clone)
	if !strings.Contains(image, "/from-source/"+commit+"/") {
		t.Errorf("the operator's image is %s, and not in the registry that it was made for", image)
	}
	s.leads(clone, 1)
	c := s.cluster(namespace, "one", v1beta2.EtcdClusterSpec{Size: 1})
	must(t, c.Healthy(t.Context(), limit))
	must(t, c.Settled(t.Context(), limit))
	s.allowed()
}
