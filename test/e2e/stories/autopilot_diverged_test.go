package stories

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// compactEvery leaves no more compactions between two looks at the members' metrics, five to six minutes, than etcd has hashes of.
	compactEvery = time.Minute
	// foundOut is how long it takes at most until data is found to differ: two such looks, of which the first comes within as long, and two compactions.
	foundOut = 20 * time.Minute
)

// TestAutopilotDiverged changes a value in one of three members' databases: the member must be replaced, its volume kept, and no
// acknowledged write lost. Between the first finding and the second another voter is frozen: until it is back nobody may be removed.
func TestAutopilotDiverged(t *testing.T) {
	t.Parallel()
	editions(t, autopilotDiverged)
}

func autopilotDiverged(t *testing.T, etcd edition) {
	s := etcd.begin(t, "diverged", onVolumes(3))
	s.settled()
	s.client()
	s.keepsValues()
	leader, err := s.Leader(t.Context())
	must(t, err)
	i := 0
	for fmt.Sprintf("%s-%d", s.Name, i) == leader.Name {
		i++
	}
	culprit := s.pod(fmt.Sprintf("%s-%d", s.Name, i))
	volume, id := s.claim(culprit.Name).UID, s.member(culprit.Name).ID
	s.diverge(culprit.Name, values[0])
	s.report("the member has diverged")

	began := time.Now()
	s.compacting("Auto Pilot holds back until another compaction shows the same", func(c *v1beta2.EtcdCluster) bool {
		return held(c, v1beta2.ReasonDivergedMemberHeld, culprit.Name)
	})
	t.Logf("found once after %s", time.Since(began).Round(time.Second))
	s.nobodyRemovedWhileFrozen(leader.Name, id)

	s.compacting("the member is listed no more", func(c *v1beta2.EtcdCluster) bool {
		return !slices.ContainsFunc(c.Status.MemberStatuses, func(m v1beta2.MemberStatus) bool { return m.ID == id })
	})
	t.Logf("replaced after %s", time.Since(began).Round(time.Second))
	must(t, s.Recovered(t.Context(), culprit.UID, limit))
	s.settled()
	s.report("it was replaced")
	s.toldOnce(v1beta2.ReasonDivergedMemberReplaced)
	found := slices.DeleteFunc(s.said(v1beta2.ReasonDivergedMember), func(note string) bool { return !strings.Contains(note, "its volume is kept") })
	if len(found) != 1 {
		t.Errorf("it is said %d times that a member is replaced: %q", len(found), found)
	}
	s.keeps("", 1)
	if got := s.claim(culprit.Name); got.UID != volume || got.DeletionTimestamp != nil {
		t.Errorf("the volume of %s is not kept: it had the UID %s, and has %s", culprit.Name, volume, got.UID)
	}
	s.allHaveValues()
}

// TestAutopilotDivergedUnclear changes values so that nobody can tell whose data is wrong: nobody may be replaced, and status says why.
func TestAutopilotDivergedUnclear(t *testing.T) {
	for name, c := range map[string]unclear{"diverged-one-of-two": {2, values[:1]}, "diverged-all": {3, values[:2]}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			editions(t, func(t *testing.T, etcd edition) { divergedUnclear(t, etcd, name, c) })
		})
	}
}

// unclear is a cluster of that size with the values to change, each in another member.
type unclear struct {
	size  int32
	wrong []string
}

func divergedUnclear(t *testing.T, etcd edition, name string, c unclear) {
	s := etcd.begin(t, name, onVolumes(c.size))
	s.settled()
	s.client()
	s.keepsValues()
	before := s.podUIDs()
	for i, value := range c.wrong {
		s.diverge(fmt.Sprintf("%s-%d", s.Name, i), value)
	}
	s.compacting("Auto Pilot says that nobody can tell whose data is wrong", func(object *v1beta2.EtcdCluster) bool {
		return held(object, v1beta2.ReasonDivergedMemberUnclear, "differs")
	})
	s.savesSnapshot()
	for range 2 {
		s.compact()
		s.look(time.Now().Format("15-04-05"))
	}
	for pod, uid := range before {
		if got := s.pod(pod); got.UID != uid || got.DeletionTimestamp != nil {
			t.Errorf("%s was replaced: its pod had the UID %s, and has %s", pod, uid, got.UID)
		}
	}
	s.report("a client of members whose data differs elsewhere saw")
}

// snapshotting is of those who type the document's commands, which listen on one port of this machine.
var snapshotting sync.Mutex

// savesSnapshot types what the document has those type who have to find out whose data is right.
func (s *story) savesSnapshot() {
	s.t.Helper()
	snapshotting.Lock()
	defer snapshotting.Unlock()
	r := s.reader()
	r.finds("etcdctl", builtEtcdctl(s.t))
	r.runs(s.commands("autopilot.md", "Diverged members", "snapshot save"))
	if saved, err := os.Stat(filepath.Join(r.at.Folder, s.Name+"-0.db")); err != nil || saved.Size() == 0 {
		s.t.Errorf("no snapshot of the first member was saved: %v", err)
	}
}

// values are of keys that stay as they are. They are different, so that each can be found in a database.
var values = []string{"the first value that stays", "the second value that stays"}

// keepsValues writes them.
func (s *story) keepsValues() {
	s.t.Helper()
	for _, value := range values {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, "stays/"+value, value)
			return err
		}))
	}
	s.compact() // what a database has still to write would undo what is done to its file
}

// allHaveValues asks every member for them.
func (s *story) allHaveValues() {
	s.t.Helper()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	for _, pod := range pods {
		for _, value := range values {
			if got := s.valueOf(pod, "stays/"+value); got != value {
				s.t.Errorf("%s has %q, want %q", pod.Name, got, value)
			}
		}
	}
}

// valueOf is what one member has.
func (s *story) valueOf(pod corev1.Pod, key string) string {
	s.t.Helper()
	etcd, err := s.Etcd(pod)
	must(s.t, err)
	defer func() { _ = etcd.Close() }()
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	answer, err := etcd.Get(ctx, key, clientv3.WithSerializable())
	must(s.t, err)
	if len(answer.Kvs) != 1 {
		return ""
	}
	return string(answer.Kvs[0].Value)
}

// diverge changes a value in a member's database, and wants the member to have another one from then on. A transaction that the member has in memory
// meanwhile may still write the page that the value is on: then it is changed once more.
func (s *story) diverge(name, value string) {
	s.t.Helper()
	container := s.Namespace + "/" + name + "/etcd"
	must(s.t, harness.Await(s.t.Context(), name+" has a wrong value", limit, func(context.Context) (string, bool) {
		if got := s.valueOf(*s.pod(name), "stays/"+value); got != value {
			return got, true
		}
		must(s.t, nodes.Faults().FreezeContainer(s.t.Context(), container))
		err := nodes.Faults().DivergeMember(s.t.Context(), s.Namespace+"/"+name, value)
		must(s.t, nodes.Faults().ThawContainer(s.t.Context(), container))
		return fmt.Sprintf("it has the right one: %v", err), false
	}))
}

// compact writes, and compacts to what was written.
func (s *story) compact() {
	s.t.Helper()
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		put, err := etcd.Put(ctx, "changes", time.Now().String())
		if err == nil {
			_, err = etcd.Compact(ctx, put.Header.Revision, clientv3.WithCompactPhysical())
		}
		return err
	}))
}

// compacting compacts once in a while until the cluster's status is so.
func (s *story) compacting(what string, is func(*v1beta2.EtcdCluster) bool) {
	s.t.Helper()
	last := time.Time{}
	must(s.t, harness.Await(s.t.Context(), what, foundOut, func(ctx context.Context) (string, bool) {
		if time.Since(last) > compactEvery {
			s.compact()
			last = time.Now()
		}
		c, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return inJSON(c.Status.Autopilot) + inJSON(c.Status.Conditions), is(c)
	}))
}

// held reports whether status says that Auto Pilot replaces nobody, for that reason and in these words.
func held(c *v1beta2.EtcdCluster, reason, words string) bool {
	return c.Status.Autopilot != nil && slices.ContainsFunc(c.Status.Autopilot.Held, func(h v1beta2.HeldAct) bool {
		return h.Feature == "divergedMember" && h.Reason == reason && strings.Contains(h.Message, words)
	})
}

// nobodyRemovedWhileFrozen freezes a voter over two compactions: the one whose data differs must stay a member.
func (s *story) nobodyRemovedWhileFrozen(name, id string) {
	s.t.Helper()
	container := s.Namespace + "/" + name + "/etcd"
	must(s.t, nodes.Faults().FreezeContainer(s.t.Context(), container))
	defer func() { must(s.t, nodes.Faults().ThawContainer(context.WithoutCancel(s.t.Context()), container)) }()
	must(s.t, harness.Await(s.t.Context(), name+" is seen not to be ready", limit, func(ctx context.Context) (string, bool) {
		c, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return inJSON(c.Status.Members), slices.Contains(c.Status.Members.Unready, name)
	}))
	for range 2 {
		s.compact()
		s.look(time.Now().Format("15-04-05"))
	}
	c, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	if !slices.ContainsFunc(c.Status.MemberStatuses, func(m v1beta2.MemberStatus) bool { return m.ID == id }) {
		s.t.Errorf("%s was removed while %s was frozen", id, name)
	}
}
