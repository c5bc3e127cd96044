package stories

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

// TestSamples runs the commands of docs/backup-and-restore.md with the samples that they name: a backup in two minutes, another one, and a
// restore. Only the folder of the bucket is another one, because it is kept from run to run.
func TestSamples(t *testing.T) {
	t.Parallel()
	const name = "example-etcd-cluster"
	p := promptFor(t, "samples", name)
	p.copies("etcdcluster.yaml", "", "")
	p.runs("kubectl apply -f config/samples/etcdcluster.yaml && kubectl wait --for=condition=Ready etcd/" + name + " --timeout=5m")
	p.puts("before", 10)

	addon := p.addon(lab.MinIO)
	ca, err := os.ReadFile(addon.CAFile)
	must(t, err)
	p.saves("ca.crt", string(ca))
	p.copies("etcdbackup.yaml", "s3://backups/"+name, "s3://"+addon.Bucket+"/"+p.folder())
	p.runs(withKeys(addon, p.commands("backup-and-restore.md", "In two minutes", "config/samples/etcdbackup.yaml")))
	taken := p.backedUp(name + "-backup").Status.Snapshots
	if len(taken) != 1 || taken[0].VerificationTime == nil {
		t.Errorf("one verified snapshot was to be taken: %s", inJSON(taken))
	}
	p.runs(p.commands("backup-and-restore.md", "Schedule and retention", "generateName: before-upgrade-"))
	p.puts("after", 10)
	p.putsBack()
	p.healthy("restored")
	p.has("before", 10)
	p.has("after", 0)
}

// putsBack restores what the one-time backup has, by the commands for one of every night and for a time.
func (p *prompt) putsBack() {
	p.t.Helper()
	commands := p.commands("backup-and-restore.md", "In two minutes", "metadata: {generateName: example-etcd-cluster-restore-}", "kubectl get etcdrs -w")
	const nightly, then = "-nightly}", "2026-01-31T12:00:00Z"
	if !strings.Contains(commands, nightly) || !strings.Contains(commands, then) {
		p.t.Fatalf("the document restores something else: %s", commands)
	}
	p.restored(p.creates(strings.NewReplacer(nightly, "-backup}", then, time.Now().UTC().Format(time.RFC3339)).Replace(commands)))
}

var restoreCreated = regexp.MustCompile(`etcdrestore\.\S+/(\S+) created`)

// creates runs commands that create an EtcdRestore, and gives its name.
func (p *prompt) creates(commands string) string {
	p.t.Helper()
	printed := p.runs(commands)
	created := restoreCreated.FindStringSubmatch(printed)
	if created == nil {
		p.t.Fatalf("no EtcdRestore was created: %s", printed)
	}
	return created[1]
}

// copies saves a sample, with a change, where the commands look for it.
func (p *prompt) copies(sample, old, other string) {
	p.t.Helper()
	folder := filepath.Join("config", "samples")
	text, err := os.ReadFile(filepath.Join(env.Root, folder, sample))
	must(p.t, err)
	if !strings.Contains(string(text), old) {
		p.t.Fatalf("%s has no %s", sample, old)
	}
	must(p.t, os.MkdirAll(filepath.Join(p.at.Folder, folder), 0o700))
	p.saves(filepath.Join(folder, sample), strings.Replace(string(text), old, other, 1))
}
