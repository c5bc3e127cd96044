package snapshot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// of is a snapshot of a cluster.
func of(c task.Cluster, revision int64) Manifest {
	m := at(0, revision)
	m.Cluster, m.Object = c, c.ID+m.Object
	return m
}

func stale(m Manifest) Manifest {
	m.Stale, m.Object = true, m.Object+"-stale"
	return m
}

// TestNewest holds that in a lineage the revision decides, whatever the clocks said.
func TestNewest(t *testing.T) {
	c := task.Cluster{ID: "a"}
	future := of(c, 100)
	future.TakenAt = noon.Add(24 * time.Hour)
	twice := of(c, 900)
	twice.TakenAt, twice.Object = noon.Add(-time.Hour), "earlier"
	for title, tc := range map[string]struct {
		all  []Manifest
		want Manifest
	}{
		"one clock in the future":        {[]Manifest{future, of(c, 900)}, of(c, 900)},
		"nothing was written meanwhile":  {[]Manifest{twice, of(c, 900)}, of(c, 900)},
		"one without a quorum has less":  {[]Manifest{stale(of(c, 899)), of(c, 900)}, of(c, 900)},
		"one without a quorum has as":    {[]Manifest{stale(of(c, 900)), twice}, twice},
		"one without a quorum has more":  {[]Manifest{of(c, 900), stale(of(c, 901))}, stale(of(c, 901))},
		"an ID as status has it, padded": {[]Manifest{of(c, 1), of(task.Cluster{ID: "000A"}, 2)}, of(task.Cluster{ID: "000A"}, 2)},
	} {
		if got := Lineages(tc.all); len(got) != 1 || got[0].Snapshots[0] != tc.want {
			t.Errorf("%s: got %+v", title, got)
		}
	}
	named := of(task.Cluster{ID: "a", UID: "1", Name: "example"}, 7)
	if got := Lineages([]Manifest{of(c, 9), named}); got[0].Cluster != named.Cluster {
		t.Errorf("of what was taken by its endpoints it is known that it is %+v", got[0].Cluster)
	}
}

func TestHeir(t *testing.T) {
	a := task.Cluster{ID: "a", UID: "1", Incarnation: 1}
	fresh := task.Cluster{ID: "b", UID: "2", Incarnation: 1}
	from := func(id, uid, parent string, revision int64) task.Cluster {
		return task.Cluster{ID: id, UID: uid, Incarnation: 1, Parent: parent, ParentRevision: revision}
	}
	replaced := from("c", "1", "a", 100)
	replaced.Incarnation = 2
	again := from("d", "1", "a", 100)
	again.Incarnation = 3
	other := from("e", "1", "", 70) // of a snapshot that does not say whose it is
	other.Incarnation = 2
	wiped := task.Cluster{ID: "f", UID: "1", Incarnation: 2}
	for title, tc := range map[string]struct {
		all  []Manifest
		want string
	}{
		"none":                                 {nil, ""},
		"one":                                  {[]Manifest{of(a, 1), of(a, 2)}, "a"},
		"created anew, empty":                  {[]Manifest{of(a, 900), of(fresh, 5)}, ""},
		"restored from the newest":             {[]Manifest{of(a, 900), of(from("b", "2", "a", 900), 1000)}, "b"},
		"a copy, and the original went on":     {[]Manifest{of(a, 901), of(from("b", "2", "a", 900), 1000)}, ""},
		"over generations":                     {[]Manifest{of(a, 9), of(from("b", "2", "a", 9), 99), of(from("c", "3", "b", 99), 999)}, "c"},
		"a generation has none left":           {[]Manifest{of(a, 9), of(from("c", "3", "b", 99), 999)}, ""},
		"set back in the same EtcdCluster":     {[]Manifest{of(a, 900), of(replaced, 5)}, "c"},
		"set back twice from the same":         {[]Manifest{of(a, 900), of(replaced, 500), of(again, 5)}, "d"},
		"set back to one that says nothing":    {[]Manifest{of(a, 900), of(other, 5)}, "e"},
		"the same EtcdCluster without restore": {[]Manifest{of(a, 900), of(wiped, 5)}, ""},
		"two copies":                           {[]Manifest{of(a, 9), of(from("b", "2", "a", 9), 99), of(from("c", "3", "a", 9), 99)}, ""},
		"another etcd, by its endpoints":       {[]Manifest{of(a, 9), of(task.Cluster{ID: "g"}, 99)}, ""},
		"a padded parent":                      {[]Manifest{of(a, 9), of(from("b", "2", "000A", 9), 99)}, "b"},
	} {
		for range 2 {
			if got, ok := Head(Lineages(tc.all)); ok != (tc.want != "") || got.Cluster.ID != tc.want {
				t.Errorf("%s: got %q, want %q", title, got.Cluster.ID, tc.want)
			}
			slices.Reverse(tc.all)
		}
	}
	chain := Lineages([]Manifest{of(a, 9), of(from("b", "2", "a", 9), 99), of(from("c", "3", "b", 99), 999)})
	chain[1].Snapshots = nil // none that is asked for
	if got, ok := Head(chain); !ok || got.Cluster.ID != "c" {
		t.Errorf("a generation that is not asked for: %+v", got)
	}
}

func TestStrangers(t *testing.T) {
	own := task.Cluster{ID: "00aa", UID: "1", Parent: "b", ParentRevision: 9}
	for title, tc := range map[string]struct {
		ancestors []string
		all       []task.Cluster
		want      string
	}{
		"nobody":                          {nil, nil, ""},
		"itself":                          {nil, []task.Cluster{{ID: "AA"}}, ""},
		"its parent":                      {nil, []task.Cluster{{ID: "b", UID: "2"}}, ""},
		"its parent's parent":             {nil, []task.Cluster{{ID: "b", UID: "2", Parent: "c"}, {ID: "c", UID: "3", Parent: "d"}, {ID: "d"}}, ""},
		"one that status knows of":        {[]string{"000d"}, []task.Cluster{{ID: "d", UID: "4"}}, ""},
		"the same EtcdCluster":            {nil, []task.Cluster{{ID: "d", UID: "1"}}, ""},
		"what its parent has replaced":    {nil, []task.Cluster{{ID: "b", UID: "2"}, {ID: "d", UID: "2"}}, ""},
		"another one of the same name":    {nil, []task.Cluster{{ID: "d", UID: "4"}}, "d"},
		"another etcd":                    {nil, []task.Cluster{{ID: "d"}, {ID: "e"}}, "d e"},
		"a child of its own":              {nil, []task.Cluster{{ID: "d", UID: "4", Parent: "aa"}}, "d"},
		"another one beside the relative": {nil, []task.Cluster{{ID: "b", UID: "2"}, {ID: "d", UID: "4"}}, "d"},
	} {
		var listed []Manifest
		for _, c := range tc.all {
			listed = append(listed, of(c, 7))
		}
		var got []string
		for _, l := range Strangers(own, tc.ancestors, listed) {
			got = append(got, l.Cluster.ID)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %v, want %s", title, got, tc.want)
		}
	}
}

// TestMayBeNewer reads revisions from names, where the manifest cannot be read.
func TestMayBeNewer(t *testing.T) {
	than := at(0, 100)
	for _, c := range []struct {
		damaged Damaged
		want    bool
	}{
		{Damaged{Manifest: manifestName(Name(101, noon, uid, Encoding{}))}, true},
		{Damaged{Manifest: manifestName(Name(100, noon, uid, Encoding{}))}, false},
		{Damaged{Manifest: manifestName(LegacyName("key_v9", 101, noon))}, true},
		{Damaged{Manifest: manifestName(LegacyName("key_v900", 99, noon))}, false},
		{Damaged{Manifest: manifestName("once")}, true},
		{Damaged{Manifest: manifestName("_v99999999999999999999_2026-01-02-03:04:05")}, true},
		{Damaged{Manifest: manifestName("once"), Says: Manifest{Object: "once", Revision: 99}}, false},
		{Damaged{Manifest: manifestName("once"), Says: Manifest{Object: "once", Revision: 101}}, true},
		{Damaged{Manifest: manifestName("copy"), Says: Manifest{Object: "once", Revision: 101}}, false},
	} {
		if got := c.damaged.MayBeNewer(than); got != c.want {
			t.Errorf("%+v: got %t", c.damaged, got)
		}
	}
}

// TestTimesInNames reads times from names, and the key that coreos/etcd-operator gave.
func TestTimesInNames(t *testing.T) {
	for object, want := range map[string]time.Time{
		Name(7, noon, uid, Encoding{Compress: true}): noon, LegacyName("key", 7, noon): noon, LegacyName("", 7, noon): noon,
		"once": {}, "key_v7_2026-99-02-03:04:05": {}, "00000000000000000007_20269902T030405Z_x.db": {},
	} {
		if got := (Damaged{Manifest: manifestName(object)}).TakenAt(); !got.Equal(want) {
			t.Errorf("%s: got %s", object, got)
		}
	}
	if !IsLegacyName(LegacyName("key", 7, noon), "key") || IsLegacyName(LegacyName("key2", 7, noon), "key") ||
		IsLegacyName(LegacyName("key_v7", 7, noon), "key") || IsLegacyName(Name(7, noon, uid, Encoding{}), "") || IsLegacyName("key", "key") {
		t.Error("a key is taken for another one")
	}
}
