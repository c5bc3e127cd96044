package stories

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestPluginActs has kubectl's plugin change a cluster with TLS: who leads, how large its databases are, which backups there are, and all of
// its data.
func TestPluginActs(t *testing.T) {
	t.Parallel()
	s := begin(t, "plugin-acts", overTLS(3))
	s.settled()
	acts := pluginActs{story: s, folder: buildPlugin(t)}
	acts.movesLeader()
	acts.defragments()
	acts.backsUpAndRestores()
	if text, err := acts.try("move-leader", "nobody"); err == nil || !strings.Contains(text, "has no EtcdCluster nobody") {
		t.Errorf("of a cluster that is not there: %v\n%s", err, text)
	}
}

// pluginActs are the acts of the plugin in a folder.
type pluginActs struct {
	*story
	folder string
}

// movesLeader has another voter lead, and back again.
func (p *pluginActs) movesLeader() {
	p.t.Helper()
	first, err := p.Leader(p.t.Context())
	must(p.t, err)
	p.t.Log("\n" + p.do("move-leader", p.Name))
	second, err := p.Leader(p.t.Context())
	must(p.t, err)
	if second.Name == first.Name {
		p.t.Errorf("%s leads still", first.Name)
	}
	if text := p.do("move-leader", p.Name, first.Name); !strings.Contains(text, first.Name+" leads, after") {
		p.t.Errorf("back again, it says %s", text)
	}
}

// defragments has all members give back what was written and deleted, and does without none of them.
func (p *pluginActs) defragments() {
	p.t.Helper()
	p.puts("defrag", 100)
	if text := p.do("defrag", p.Name, "--all", "--dry-run"); !strings.Contains(text, "Nothing was changed") {
		p.t.Errorf("in a dry run it says %s", text)
	}
	text := p.do("defrag", p.Name, "--all")
	p.t.Log("\n" + text)
	if strings.Count(text, " → ") != 3 || !strings.Contains(text, "handing leadership over") {
		p.t.Errorf("of three members, it says %s", text)
	}
	p.healthy("defragmented")
	p.has("defrag", 100)
}

// backsUpAndRestores takes a backup as a scheduled EtcdBackup would, lists it, and restores it.
func (p *pluginActs) backsUpAndRestores() {
	p.t.Helper()
	p.backup("yearly", p.minio(), func(spec *v1beta2.EtcdBackupSpec) { spec.Schedule = "@yearly" })
	p.puts("before", 10)
	text := p.do("backup", "now", p.Name, "--wait")
	p.t.Log("\n" + text)
	if !strings.Contains(text, "Taken: ") {
		p.t.Errorf("a backup says %s", text)
	}
	from, one := p.taken(p.do("backup", "list", p.Name, "-o", "json"))
	p.t.Log("\n" + p.do("backup", "list", p.Name))

	p.puts("after", 10)
	if text, err := p.try("restore", p.Name, "--from", from); err == nil || !strings.Contains(text, "give --yes") {
		p.t.Errorf("without a confirmation: %v\n%s", err, text)
	}
	p.t.Log("\n" + p.do("restore", p.Name, "--from", from+"/"+one.Name, "--yes", "--wait"))
	p.healthy("restored")
	p.has("before", 10)
	p.has("after", 0)
}

// pluginSnapshot is what the story looks at of a snapshot in a list for programs.
type pluginSnapshot struct {
	Name     string
	Revision int64
}

// taken is the only snapshot in a list for programs, and the EtcdBackup that has taken it, if the list says that.
func (p *pluginActs) taken(text string) (from string, one pluginSnapshot) {
	p.t.Helper()
	var groups []struct {
		Backup    string
		Snapshots []pluginSnapshot
	}
	must(p.t, json.Unmarshal([]byte(text), &groups))
	for _, g := range groups {
		if len(g.Snapshots) == 1 {
			return g.Backup, g.Snapshots[0]
		}
	}
	p.t.Fatalf("there is not one snapshot: %s", text)
	return "", pluginSnapshot{}
}

// do is an act that succeeds, and what it says.
func (p *pluginActs) do(args ...string) string {
	p.t.Helper()
	text, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("kubectl etcd %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return text
}

// try is an act, and what it says.
func (p *pluginActs) try(args ...string) (string, error) {
	cmd := exec.CommandContext(p.t.Context(), env.Kubectl, append([]string{"etcd"}, args...)...)
	cmd.Args = append(cmd.Args, "--kubeconfig="+env.Kubeconfig, "--namespace="+p.Namespace)
	cmd.Env = append(os.Environ(), "PATH="+p.folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// buildPlugin builds kubectl's plugin into a folder of the test's.
func buildPlugin(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "kubectl-etcd"), "./cmd/kubectl-etcd")
	build.Dir = env.Root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the plugin: %v\n%s", err, out)
	}
	return folder
}
