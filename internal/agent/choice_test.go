package agent

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Clusters of tests: what was there first, one that was recreated under its name, one that was restored from its revision
// 900, and what a restore of that into the first one has made of it.
var (
	first    = task.Cluster{Namespace: "ns", Name: "example", UID: "uid-1", ID: "a1", Incarnation: 1}
	empty    = task.Cluster{Namespace: "ns", Name: "example", UID: "uid-2", ID: "b2", Incarnation: 1}
	revived  = task.Cluster{Namespace: "ns", Name: "example", UID: "uid-3", ID: "c3", Incarnation: 1, Parent: "a1", ParentRevision: 900}
	replaced = task.Cluster{Namespace: "ns", Name: "example", UID: "uid-1", ID: "d4", Incarnation: 2, Parent: "a1", ParentRevision: 900}

	restorer = task.Writer{Kind: task.KindRestore, Namespace: "ns", Name: "back", UID: "00000000-restore"}
)

// TestLineages asks which snapshot is the latest. Each row names them in the order that they were taken in.
func TestLineages(t *testing.T) {
	type taken struct {
		of       task.Cluster
		revision int64
		by       task.Writer
		stale    bool
	}
	anew := nightly
	anew.UID = "00000000-anew"
	for title, c := range map[string]struct {
		taken  []taken
		choice task.Choice
		want   int // the index, or -1
		reason string
		says   []string
		warns  bool
	}{
		"what a restore has saved of it": {
			taken: []taken{{of: first, revision: 7}, {of: first, revision: 9, by: restorer}}, want: 0,
		},
		"what a restore has saved, if it is named": {
			taken:  []taken{{of: first, revision: 7}, {of: first, revision: 9, by: restorer}},
			choice: task.Choice{Object: snapshot.Name(9, noon.Add(time.Hour), restorer.UID, snapshot.Encoding{})}, want: 1,
		},
		"nothing but that": {
			taken: []taken{{of: first, revision: 9, by: restorer}}, want: -1, reason: v1beta2.ReasonNoSuchObject,
			says: []string{"EtcdRestore ns/back", "spec.snapshot"},
		},
		"a clock was in the future": {taken: []taken{{of: first, revision: 900}, {of: first, revision: 100}}, want: 0, warns: true},
		"created anew, empty": {
			taken: []taken{{of: first, revision: 900}, {of: empty, revision: 5}}, want: -1, reason: v1beta2.ReasonSeveralLineages,
			says: []string{
				"cluster ID a1", "cluster ID b2", "uid-1", "uid-2", "ns/example", "revision 900", "revision 5", "0 keys", "spec.clusterID",
				"spec.snapshot", "2026-01-02T12:00:00Z", "The newest is not necessarily the right one",
			},
		},
		"created anew, and the ID is given": {
			taken: []taken{{of: first, revision: 900}, {of: empty, revision: 5}}, choice: task.Choice{ClusterID: "00000000000000A1"}, want: 0,
		},
		"created anew with its EtcdBackup": {
			taken:  []taken{{of: first, revision: 900}, {of: empty, revision: 5, by: anew}},
			choice: task.Choice{Writer: anew}, want: -1, reason: v1beta2.ReasonSeveralLineages,
		},
		"only the EtcdBackup was made anew": {taken: []taken{{of: first, revision: 900}}, choice: task.Choice{Writer: anew}, want: 0},
		"revived":                           {taken: []taken{{of: first, revision: 900}, {of: revived, revision: 5}}, want: 1},
		"revived, and the first one goes on": {
			taken: []taken{{of: first, revision: 901}, {of: revived, revision: 5}}, want: -1, reason: v1beta2.ReasonSeveralLineages,
		},
		"set back": {taken: []taken{{of: first, revision: 950}, {of: replaced, revision: 5}}, want: 1},
		"set back, and before that is asked for": {
			taken:  []taken{{of: first, revision: 950}, {of: replaced, revision: 5}},
			choice: task.Choice{Before: noon.Add(time.Minute)}, want: 0,
		},
		"without a quorum, as much":  {taken: []taken{{of: first, revision: 900}, {of: first, revision: 900, stale: true}}, want: 0},
		"without a quorum, and more": {taken: []taken{{of: first, revision: 900}, {of: first, revision: 901, stale: true}}, want: 1, warns: true},
		"an ID that nobody has": {
			taken: []taken{{of: first, revision: 900}}, choice: task.Choice{ClusterID: "ff"}, want: -1, reason: v1beta2.ReasonNoSuchObject,
			says: []string{"of the etcd cluster ff", "cluster ID a1"},
		},
	} {
		t.Run(title, func(t *testing.T) {
			p := newPod(t)
			var all []string
			for i, m := range c.taken {
				if m.by.Name == "" {
					m.by = nightly
				}
				all = append(all, p.written(m.by, m.of, noon.Add(time.Duration(i)*time.Hour), m.revision, m.stale).Object)
			}
			task := verify(func(v *task.Verify) { v.Choice = c.choice })
			if c.want < 0 {
				message := p.fails(task, c.reason, true)
				for _, word := range slices.Concat(c.says) {
					if !strings.Contains(message, word) {
						t.Errorf("it does not say %q: %s", word, message)
					}
				}
				return
			}
			result := p.run(task)
			if result.Failure != nil || result.Snapshot.Name != all[c.want] || c.warns != (len(result.Warnings) > 0) {
				t.Errorf("got %+v, %+v, of %v", result.Failure, result, all)
			}
		})
	}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// TestUnreadable has manifests that cannot be read beside one that can.
func TestUnreadable(t *testing.T) {
	loop := func(t *testing.T, p *pod, object string) {
		t.Helper()
		if err := os.Symlink(object, p.object(object)+".manifest.json"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(object, p.object(object)); err != nil {
			t.Fatal(err)
		}
	}
	text := func(text string) func(*testing.T, *pod, string) {
		return func(t *testing.T, p *pod, object string) {
			t.Helper()
			if err := os.WriteFile(p.object(object)+".manifest.json", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	own := func(revision int64) string { return snapshot.Name(revision, noon, "00000000", snapshot.Encoding{}) }
	for title, c := range map[string]struct {
		object   string
		put      func(*testing.T, *pod, string)
		reason   string
		terminal bool
	}{
		"no JSON, newer":              {own(8), text("{"), v1beta2.ReasonSnapshotDamaged, true},
		"no JSON, older":              {own(6), text("{"), "", false},
		"too long, newer":             {own(8), text(strings.Repeat(" ", 1<<20)), v1beta2.ReasonSnapshotDamaged, true},
		"of a later version, newer":   {own(8), text(`{"format":"etcd-operator/snapshot/v2"}`), v1beta2.ReasonSnapshotDamaged, true},
		"somebody else's JSON":        {own(8), text("{}"), "", false},
		"an old name, newer":          {"key_v8_2026-01-02-03:04:05", text("{"), v1beta2.ReasonSnapshotDamaged, true},
		"an old name, older":          {"key_v6_2026-01-02-03:04:05", text("{"), "", false},
		"a name that says nothing":    {"once", text("{"), v1beta2.ReasonSnapshotDamaged, true},
		"the storage refuses, newer":  {own(8), loop, v1beta2.ReasonStorageFailed, false},
		"the storage refuses, older":  {own(6), loop, "", false},
		"the storage refuses, for us": {"once", loop, v1beta2.ReasonStorageFailed, false},
	} {
		t.Run(title, func(t *testing.T) {
			p := newPod(t)
			good := p.written(nightly, first, noon, 7, false).Object
			c.put(t, p, c.object)
			if c.reason != "" {
				message := p.fails(verify(latest), c.reason, c.terminal)
				if !strings.Contains(message, c.object+".manifest.json") || !strings.Contains(message, "set spec.snapshot to "+good) {
					t.Errorf("it says %s", message)
				}
			} else if result := p.run(verify(latest)); result.Failure != nil || result.Snapshot.Name != good {
				t.Errorf("got %+v", result)
			}
			p.must(verify(named(good)))
		})
	}
	p := newPod(t)
	good := p.written(nightly, first, noon.Add(-time.Hour), 7, false).Object
	text("{")(t, p, own(8))
	if got := p.run(verify(func(v *task.Verify) { v.Before = noon })); got.Failure != nil || got.Snapshot.Name != good {
		t.Errorf("from before the one that cannot be read: %+v", got.Failure)
	}
}
