package stories

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// TestMigrateFromStatefulSet brings the data of an etcd in a StatefulSet into an EtcdCluster, by the commands of docs/migrate.md in their
// order, while an application and a writer that notes what was acknowledged are at work. It goes back and forth again, without what was written
// to the new cluster and with it.
func TestMigrateFromStatefulSet(t *testing.T) {
	t.Parallel()
	m := beginMigration(t, "migrate", oldEtcd+oldApp)
	m.saves("backup.yaml", nil)
	m.saves("new.yaml", nil)
	m.moves(3000)

	m.runsAll("Way back", 1)
	m.serves("after the way back", m.readOld, m.read)

	m.again = "-2"
	m.cutsOver(m.writes("again"))
	m.serves("after the second cut-over", m.read, m.readOld)

	m.runsAll("Way back with the new writes", 2)
	m.serves("after the way back with the new writes", m.readOld, m.read)

	m.again = "-3"
	m.cutsOver(m.writes("at last"))
	m.serves("after the third cut-over", m.read, m.readOld)
	m.leavesOld()
}

// migration is a story of an EtcdCluster, new, that the document makes beside an old etcd.
type migration struct {
	*prompt
	// words replaces what the document has in capitals, and what it says is another command with TLS.
	words *strings.Replacer
	// again is behind the names of what is carried out once.
	again string
	// acknowledged are the keys that the old etcd has taken, and their values.
	acknowledged map[string]string
	// password is root's where authentication is on, empty where it is off.
	password string
	// tls is how to connect to the old etcd, nil if it serves without TLS.
	tls *tls.Config
}

// beginMigration starts the old etcd.
func beginMigration(t *testing.T, name, old string, others ...string) *migration {
	t.Helper()
	m := &migration{prompt: promptFor(t, name, "new"), acknowledged: map[string]string{}}
	m.stores(others...)
	m.apply(strings.NewReplacer("VERSION", oldVersion, "CLIENT", env.ClientImage).Replace(old))
	must(t, env.Run(t.Context(), "rollout", "status", "--timeout=3m", "-n", m.Namespace, "statefulset/old"))
	return m
}

// saves saves a manifest of the document, with the changes that it tells of.
func (m *migration) saves(file string, change func(manifest string) string) {
	m.t.Helper()
	files := []string{"backup.yaml", "new.yaml"}
	manifests := blocksIn(m.t, "migrate.md", "Rehearse", "yaml")
	if len(manifests) != len(files) {
		m.t.Fatalf("%d manifests are to be saved: %q", len(manifests), manifests)
	}
	manifest := m.words.Replace(manifests[slices.Index(files, file)])
	if change != nil {
		manifest = change(manifest)
	}
	m.prompt.saves(file, manifest)
}

// stores starts the lab's S3, makes the Secrets that the document names, and chooses a folder that no earlier run has used. The others are also words
// to be replaced.
func (m *migration) stores(others ...string) {
	m.t.Helper()
	addon := m.addon(lab.MinIO)
	m.secret("storage", map[string]string{
		"access-key-id": addon.Env["AWS_ACCESS_KEY_ID"], "secret-access-key": addon.Env["AWS_SECRET_ACCESS_KEY"],
	})
	ca, err := os.ReadFile(addon.CAFile)
	must(m.t, err)
	m.secret(storageCA, map[string]string{"ca.crt": string(ca)})
	namespace, err := env.Kube.CoreV1().Namespaces().Get(m.t.Context(), m.Namespace, metav1.GetOptions{})
	must(m.t, err)
	words := []string{"BUCKET", addon.Bucket, "FOLDER", string(namespace.UID), "ENDPOINT", addon.URL, "VERSION", oldVersion}
	m.words = strings.NewReplacer(append(words, others...)...)
}

// blocks are the blocks of commands in a section. That the number is as expected says that none is left out.
func (m *migration) blocks(section string, want int) []string {
	m.t.Helper()
	blocks := blocksIn(m.t, "migrate.md", section, "sh")
	if len(blocks) != want {
		m.t.Fatalf("%s has %d blocks of commands, and the story knows %d: %q", section, len(blocks), want, blocks)
	}
	for i := range blocks {
		blocks[i] = strings.NewReplacer("final", "final"+m.again, "cut-over", "cut-over"+m.again).Replace(m.words.Replace(blocks[i]))
	}
	return blocks
}

func (m *migration) runsAll(section string, want int) {
	m.t.Helper()
	for _, block := range m.blocks(section, want) {
		m.runs(block)
	}
}

// moves has an application, and that many keys, move to the new cluster.
func (m *migration) moves(keys int) {
	m.t.Helper()
	m.fills(keys)
	m.works("with the old etcd")
	stop := m.writes("rehearsing")
	m.rehearses()
	m.cutsOver(stop)
	m.serves("after the cut-over", m.read, m.readOld)
}

// leavesOld deletes the old etcd, and wants the application to work without it, and the new cluster to have all that it has acknowledged.
func (m *migration) leavesOld() {
	m.t.Helper()
	m.deletesOld()
	m.works("without the old etcd")
	m.hasAcknowledged()
}

func (m *migration) rehearses() {
	m.t.Helper()
	blocks := m.blocks("Rehearse", 2)
	m.runs(blocks[0])
	m.oneSum(m.runs(blocks[1]))
}

// cutsOver does so, with a writer that stops when the application does, and checks that the new cluster has all that the old one has, and
// that the old one is as it was.
func (m *migration) cutsOver(stop func()) {
	m.t.Helper()
	blocks := m.blocks("Cut over", 4)
	stop()
	m.runs(blocks[0])
	before := m.readOld()
	start := time.Now()
	m.runs(blocks[1])
	out := m.runs(blocks[2])
	m.oneSum(out)
	m.oneRevision(out, before.revision)
	m.hasAcknowledged()
	m.sameKeys("the new cluster has", before, m.read())
	after := m.readOld()
	m.sameKeys("the old etcd has", before, after)
	if after.revision != before.revision {
		m.t.Errorf("the old etcd was at revision %d, and is at %d", before.revision, after.revision)
	}
	if at := m.read().revision; at < before.revision+1_000_000_000 {
		m.t.Errorf("the new cluster is at revision %d, and the old one at %d", at, before.revision)
	}
	if m.tls != nil {
		m.presentsNewCertificate()
	}
	m.runs(blocks[3])
	m.works("led to the new cluster")
	m.t.Logf("the application was without etcd for %.1f s, of %d keys", time.Since(start).Seconds(), len(before.keys))
}

var (
	sumLine      = regexp.MustCompile(`(?m)^[0-9a-f]{64}\b`)
	revisionLine = regexp.MustCompile(`(?m)^\d+$`)
)

// oneSum checks that commands have printed two sums that are the same, and not of nothing.
func (m *migration) oneSum(printed string) {
	m.t.Helper()
	sums := sumLine.FindAllString(printed, -1)
	if len(sums) != 2 || sums[0] != sums[1] || sums[0] == fmt.Sprintf("%x", sha256.Sum256(nil)) {
		m.t.Fatalf("the sums are %v", sums)
	}
}

// oneRevision checks that commands have printed the revision twice.
func (m *migration) oneRevision(printed string, want int64) {
	m.t.Helper()
	text := fmt.Sprint(want)
	if revisions := revisionLine.FindAllString(printed, -1); !slices.Equal(revisions, []string{text, text}) {
		m.t.Errorf("the revisions are %v, and the old etcd is at %s", revisions, text)
	}
}

// deletesOld deletes the old etcd, and looks whether anything of it is left, and nothing of the new one is gone.
func (m *migration) deletesOld() {
	m.t.Helper()
	m.runsAll("Delete the old one", 1)
	must(m.t, harness.Await(m.t.Context(), "the old etcd is gone", limit, func(ctx context.Context) (string, bool) {
		pods, claims := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}
		old := []client.ListOption{client.InNamespace(m.Namespace), client.MatchingLabels{"app": "old"}}
		if err := env.List(ctx, pods, old...); err != nil {
			return err.Error(), false
		}
		err := env.List(ctx, claims, old...)
		return fmt.Sprintf("%d pods, %d claims, %v", len(pods.Items), len(claims.Items), err), err == nil && len(pods.Items)+len(claims.Items) == 0
	}))
	m.settled()
	must(m.t, harness.Await(m.t.Context(), "nothing of the rehearsal is left", limit, func(ctx context.Context) (string, bool) {
		object, err := m.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("from %s, keeps %s", inJSON(object.Spec.RestoreFrom), inJSON(object.Status.KeptVolumes)),
			object.Spec.RestoreFrom == nil && len(object.Status.KeptVolumes) == 0
	}))
}
