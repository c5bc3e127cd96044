package restore

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// of is an EtcdBackup with these snapshots, the newest first.
func of(name string, snapshots ...string) v1beta2.EtcdBackup {
	b := v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Spec.EtcdCluster = &v1beta2.EtcdClusterRef{Name: "demo"}
	for _, s := range snapshots {
		b.Status.Snapshots = append(b.Status.Snapshots, v1beta2.SnapshotStatus{
			Name: s, CreationTime: metav1.NewTime(now.Add(-6 * time.Hour)), Revision: 81223, SizeBytes: 388 << 20,
		})
	}
	return b
}

// TestChoose finds an EtcdBackup or a snapshot.
func TestChoose(t *testing.T) {
	all := []v1beta2.EtcdBackup{of("nightly", "3.db", "2.db"), of("weekly", "1.db")}
	for from, want := range map[string]string{
		"nightly": "nightly//3.db", "nightly/2.db": "nightly/2.db/2.db", "nightly/old.db": "nightly/old.db/", "1.db": "weekly/1.db/1.db",
		"old.db": `"old.db" is neither`, "x/1.db": `"x/1.db" is neither`,
	} {
		c, err := choose(from, all)
		if err != nil {
			if !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", from, err)
			}
			continue
		}
		got := c.backup.Name + "/" + c.object + "/"
		if c.snapshot != nil {
			got += c.snapshot.Name
		}
		if got != want {
			t.Errorf("%s: %s", from, got)
		}
	}
	if _, err := choose("nightly", nil); err == nil || !strings.Contains(err.Error(), "spec.storage") {
		t.Errorf("without any EtcdBackup: %v", err)
	}
	all[0].Status.Snapshots[0].Stale = true
	if c, err := choose("nightly", all); err != nil || c.snapshot.Name != "2.db" || c.object != "" {
		t.Errorf("the latest one is %+v, %v", c, err)
	}
}

// TestWords says what is lost, and what is not.
func TestWords(t *testing.T) {
	cluster := func(change func(*v1beta2.EtcdCluster)) *v1beta2.EtcdCluster {
		c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
		c.Status.Size, c.Status.Storage = 3, v1beta2.MemberStoragePVC
		change(c)
		return c
	}
	usual := func(*v1beta2.EtcdCluster) {}
	for title, test := range map[string]struct {
		from   string
		before *metav1.Time
		change func(*v1beta2.EtcdCluster)
		want   string
	}{
		"the latest":              {"nightly", nil, usual, "replaced by the latest snapshot of EtcdBackup nightly (taken 6h ago at revision 81223, 388Mi unpacked). What"},
		"a certain one":           {"nightly/old.db", nil, usual, "replaced by snapshot old.db of EtcdBackup nightly. What"},
		"by the time":             {"nightly", &metav1.Time{Time: now}, usual, "EtcdBackup nightly from before 2026-11-24T12:00:00Z. What"},
		"a member may not answer": {"nightly", nil, usual, "saved first, beside the snapshot, if a member answers, and"},
		"emptyDirs are not given up": {"nightly", nil, func(c *v1beta2.EtcdCluster) {
			c.Status.Storage = v1beta2.MemberStorageEmptyDir
		}, "if it cannot be, the restore stops"},
		"volumes":    {"nightly", nil, usual, "the volumes of the present members are kept"},
		"no volumes": {"nightly", nil, func(c *v1beta2.EtcdCluster) { c.Status.Storage = v1beta2.MemberStorageEmptyDir }, "no volumes to go back to"},
		"paused":     {"nightly", nil, func(c *v1beta2.EtcdCluster) { c.Spec.Paused = true }, "is paused"},
		"another":    {"nightly", nil, func(c *v1beta2.EtcdCluster) { c.Name = "copy" }, "of another cluster than copy"},
	} {
		chosen, err := choose(test.from, []v1beta2.EtcdBackup{of("nightly", "3.db")})
		if err != nil {
			t.Fatal(err)
		}
		does, remarks := chosen.words(cluster(test.change), test.before, "", now)
		if text := does + "\n" + strings.Join(remarks, "\n"); !strings.Contains(text, test.want) {
			t.Errorf("%s: it says %s", title, text)
		}
	}
}

// TestWayBack does not promise a way back where there may be none.
func TestWayBack(t *testing.T) {
	c := &v1beta2.EtcdCluster{}
	if says := callOff(c); says != "delete it to call this off, until the new members are up." {
		t.Errorf("with volumes: %s", says)
	}
	c.Status.Storage = v1beta2.MemberStorageEmptyDir
	if says := callOff(c); !strings.Contains(says, "it may go on all the same") {
		t.Errorf("without volumes: %s", says)
	}
}

// TestStep follows the phases.
func TestStep(t *testing.T) {
	for title, test := range map[string]struct {
		phase       v1beta2.RestorePhase
		reason      string
		done        bool
		says, fails string
	}{
		"not seen":  {"", "", false, "", ""},
		"it waits":  {"", "BackupMissing", false, "BackupMissing", ""},
		"reading":   {v1beta2.RestoreVerifying, "Verifying", false, "Verifying", ""},
		"replacing": {v1beta2.RestoreReplacing, "Restoring", false, "Replacing", ""},
		"done":      {v1beta2.RestoreSucceeded, "Restored", true, "Succeeded", ""},
		"failed":    {v1beta2.RestoreFailed, "SnapshotDamaged", true, "Failed", "SnapshotDamaged: says SnapshotDamaged"},
	} {
		r := &v1beta2.EtcdRestore{}
		r.Status.Phase = test.phase
		if test.reason != "" {
			r.Status.Conditions = []metav1.Condition{{
				Type: v1beta2.ConditionRestored, Status: metav1.ConditionFalse, Reason: test.reason, Message: "says " + test.reason,
			}}
		}
		s := step(r)
		if s.Begun != (test.reason != "") || s.Done != test.done || s.Reason != test.says {
			t.Errorf("%s: %+v", title, s)
		}
		if (s.Problem == nil) != (test.fails == "") || s.Problem != nil && s.Problem.Error() != test.fails {
			t.Errorf("%s: it fails with %v", title, s.Problem)
		}
	}
}

// TestTimeOf takes one way of writing.
func TestTimeOf(t *testing.T) {
	if at, err := timeOf("2026-11-24T12:00:00Z"); err != nil || !at.Time.Equal(now) {
		t.Errorf("it is %v, %v", at, err)
	}
	if at, err := timeOf(""); err != nil || at != nil {
		t.Errorf("none is %v, %v", at, err)
	}
	if _, err := timeOf("noon"); err == nil {
		t.Error("noon is a time")
	}
}
