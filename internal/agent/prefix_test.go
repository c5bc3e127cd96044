package agent

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// id is the cluster ID of the etcd, as manifests have it.
func (s *server) id(t *testing.T) string {
	t.Helper()
	status, err := s.Status(t.Context(), s.endpoints[0])
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(status.Header.GetClusterId(), 16)
}

// TestForeignBackups asks beside whose backups the first one of an EtcdBackup is taken.
func TestForeignBackups(t *testing.T) {
	s := start(t)
	s.put(t, 1)
	id := s.id(t)
	other := nightly
	other.Name, other.UID = "of-another", "00000000-2fa1-11d2-883f-0016d3cca427"
	anew := nightly
	anew.UID = other.UID
	own := task.Cluster{Namespace: "ns", Name: "example", UID: "uid-9", Parent: "c3", ParentRevision: 5}
	for title, c := range map[string]struct {
		there   []task.Cluster
		by      task.Writer
		change  func(*task.Backup)
		refused bool
		warns   bool
	}{
		"nobody's":                      {nil, other, plain, false, false},
		"the same cluster's":            {[]task.Cluster{{ID: id}}, other, plain, false, false},
		"another one's":                 {[]task.Cluster{first}, other, plain, true, false},
		"of another one that was here":  {[]task.Cluster{first}, anew, plain, true, false},
		"another one's, and it may":     {[]task.Cluster{first}, other, func(b *task.Backup) { b.Shared = true }, false, false},
		"the one's it was restored of":  {[]task.Cluster{revived}, other, plain, false, false},
		"and of those before":           {[]task.Cluster{revived, first}, other, plain, false, false},
		"and what these had replaced":   {[]task.Cluster{revived, first, replaced}, other, plain, false, false},
		"and somebody else's":           {[]task.Cluster{revived, first, empty}, other, plain, true, false},
		"one that status knows of":      {[]task.Cluster{empty}, other, func(b *task.Backup) { b.Ancestors = []string{"00b2"} }, false, false},
		"the same EtcdCluster's":        {[]task.Cluster{{ID: "e5", UID: "uid-9"}}, other, plain, false, false},
		"its own, of another cluster":   {[]task.Cluster{empty}, nightly, plain, false, true},
		"what a restore has saved":      {[]task.Cluster{empty}, restorer, plain, false, false},
		"of an etcd by its endpoints":   {[]task.Cluster{{ID: "e5"}}, other, func(b *task.Backup) { b.Cluster = task.Cluster{} }, true, false},
		"by its endpoints, of the same": {[]task.Cluster{{ID: id}}, other, func(b *task.Backup) { b.Cluster = task.Cluster{} }, false, false},
	} {
		t.Run(title, func(t *testing.T) {
			p := newPod(t)
			for i, of := range c.there {
				p.written(c.by, of, noon, int64(i+1), false)
			}
			before := p.stored()
			task := s.backup(func(b *task.Backup) { b.Cluster = own; c.change(b) })
			if c.refused {
				message := p.fails(task, v1beta2.ReasonForeignBackups, true)
				for _, word := range []string{"another URL", "spec.clusterID", "prefixPolicy", p.storage.URL, c.by.Name} {
					if !strings.Contains(message, word) {
						t.Errorf("it does not say %q: %s", word, message)
					}
				}
				if after := p.stored(); !slices.Equal(before, after) {
					t.Errorf("it holds %v, not %v", after, before)
				}
				return
			}
			if result := p.run(task); result.Failure != nil || c.warns != (len(result.Warnings) > 0) {
				t.Errorf("got %+v, %+v", result.Failure, result)
			}
			if result := p.run(task); result.Failure != nil { // now it has one there
				t.Errorf("the second time: %+v", result.Failure)
			}
		})
	}
}

// TestForeignKeys has periodic backups of two clusters in one folder, under keys of coreos/etcd-operator: the names tell them
// apart, also if one key begins with the other.
func TestForeignKeys(t *testing.T) {
	p, production, staging := newPod(t), start(t), start(t)
	anew := nightly
	anew.Name, anew.UID = "anew", "00000000-2fa1-11d2-883f-0016d3cca427"
	production.put(t, 1)
	staging.put(t, 1)
	by := func(s *server, key string) task.Task {
		return s.backup(func(b *task.Backup) { b.LegacyKey, b.Periodic = key, true })
	}
	p.must(by(staging, "etcd-staging"))
	task := by(production, "etcd")
	task.Writer = anew
	p.must(task)
	task = by(staging, "etcd")
	task.Writer = anew
	task.Writer.UID = "11111111-2fa1-11d2-883f-0016d3cca427"
	p.fails(task, v1beta2.ReasonForeignBackups, true)
}

// TestStrangerLater has a stranger write beside backups that are there. It takes nothing away from whom they belong to.
func TestStrangerLater(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 1)
	p.must(s.backup(plain))
	other := nightly
	other.Name, other.UID = "of-another", "00000000-2fa1-11d2-883f-0016d3cca427"
	p.written(other, empty, noon, 5, false)
	if result := p.run(s.backup(plain)); result.Failure != nil || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "cluster ID b2") {
		t.Errorf("got %+v, %+v", result.Failure, result)
	}
}

// TestOverwritten does not write over the one backup of a cluster that is gone, whoever was made anew.
func TestOverwritten(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 1)
	once := s.backup(func(b *task.Backup) { b.LegacyKey = "once" })
	m := p.written(nightly, first, noon, 900, false)
	for _, ending := range []string{"", ".manifest.json"} {
		if err := os.Rename(p.object(m.Object)+ending, p.object("once")+ending); err != nil {
			t.Fatal(err)
		}
	}
	m.Object = "once"
	p.describe(m)
	p.fails(once, v1beta2.ReasonForeignBackups, true)
	if got := p.must(verify(named("once"))).Snapshot; got.Revision != 900 {
		t.Errorf("left %+v", got)
	}
	once.Backup.Shared = true
	p.must(once)
}

// TestKeptLineages has an EtcdCluster recreated under an EtcdBackup that stays: the empty backups of the new one displace
// none of the old one's.
func TestKeptLineages(t *testing.T) {
	p, s := newPod(t), start(t)
	var old []string
	for i := range 3 {
		old = append(old, p.written(nightly, first, time.Now().Add(time.Duration(i-10)*time.Hour), int64(900+i), false).Object)
	}
	var result task.Result
	for range 3 {
		s.put(t, 1)
		result = p.run(s.backup(func(b *task.Backup) { b.Policy = task.Policy{Last: 2} }))
		if result.Failure != nil || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "cluster ID a1") {
			t.Fatalf("got %+v, %+v", result.Failure, result)
		}
	}
	if stored := p.stored(); len(stored) != 8 || slices.Contains(stored, old[0]) || !slices.Contains(stored, old[1]) || !slices.Contains(stored, old[2]) {
		t.Errorf("left %v", stored)
	}
	told := result.Lineages
	if result.Total != 4 || len(told) != 2 || told[0].ClusterID != s.id(t) || told[0].Count != 2 || told[0].Name != result.Snapshot.Name ||
		told[1].ClusterID != "a1" || told[1].Count != 2 || told[1].Name != old[2] || told[1].Revision != 902 || told[1].Cluster != "ns/example" {
		t.Errorf("told %+v of %d", told, result.Total)
	}
	p.fails(verify(latest), v1beta2.ReasonSeveralLineages, true)
	if got := p.run(verify(func(v *task.Verify) { v.ClusterID = "a1" })).Snapshot; got == nil || got.Name != old[2] {
		t.Errorf("of the old one: %+v", got)
	}
}

// TestClocks has backups of the future, by a clock that was wrong.
func TestClocks(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 10)
	c := task.Cluster{Namespace: "ns", Name: "example", ID: s.id(t)}
	for i := range 2 {
		p.written(nightly, c, time.Now().Add(time.Duration(i+1)*time.Hour), int64(i+1), false)
	}
	result := p.must(s.backup(func(b *task.Backup) { b.Policy = task.Policy{Last: 2} }))
	if len(result.Deleted) != 1 || result.Total != 2 || result.Lineages[0].Name != result.Snapshot.Name {
		t.Errorf("got %+v", result)
	}
	if got := p.run(verify(latest)); got.Failure != nil || got.Snapshot.Name != result.Snapshot.Name {
		t.Errorf("the latest is %+v", got)
	}
}

// TestSetBackByHand has an etcd under the same cluster ID with fewer revisions than its backups, as one has that someone has
// restored by other means. The new backup is not the one to go, and neither are those of before.
func TestSetBackByHand(t *testing.T) {
	p, s := newPod(t), start(t)
	before := p.written(nightly, task.Cluster{ID: s.id(t)}, time.Now().Add(-time.Hour), 1<<40, false).Object
	for range 2 {
		s.put(t, 1)
		result := p.run(s.backup(func(b *task.Backup) { b.Policy = task.Policy{Last: 1} }))
		if result.Failure != nil || len(result.Deleted) > 0 || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], before) {
			t.Errorf("got %+v, %+v", result.Failure, result)
		}
	}
	if stored := p.stored(); len(stored) != 6 {
		t.Errorf("left %v", stored)
	}
}

// TestForeignNamespaces tells an EtcdBackup nothing of other namespaces, and an EtcdRestore, which reads what is there, all.
func TestForeignNamespaces(t *testing.T) {
	of := task.Cluster{Namespace: "tenant", Name: "secret-name", UID: "uid-7", ID: "a1"}
	lineages := snapshot.Lineages([]snapshot.Manifest{{
		Object: "object", Cluster: of, Writer: task.Writer{Kind: task.KindBackup, Namespace: "tenant", Name: "theirs"},
	}})
	asked := &runner{Task: task.Task{Writer: nightly, Backup: &task.Backup{}}}
	for _, hidden := range []string{"tenant", "secret-name", "uid-7", "theirs"} {
		if text := asked.foreign(lineages).Error(); strings.Contains(text, hidden) || !strings.Contains(text, "a1 of another namespace") {
			t.Errorf("it says %q: %s", hidden, text)
		}
		if text := asked.several(lineages).Error(); !strings.Contains(text, hidden) {
			t.Errorf("it does not say %q: %s", hidden, text)
		}
	}
	asked.Writer.Namespace = "tenant"
	if text := asked.foreign(lineages).Error(); !strings.Contains(text, "tenant/secret-name (UID uid-7)") || !strings.Contains(text, "tenant/theirs") {
		t.Errorf("their own: %s", text)
	}
}
