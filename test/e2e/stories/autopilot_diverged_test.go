package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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
// acknowledged write lost. Another voter is frozen twice. Between the first finding and the second nothing may be decided, because it cannot be compared.
// Once it is decided, the member may not go, and none may join in its place, until that voter is back. So that nobody joins before it is frozen, the API
// server refuses new volumes until it is. In the end the EtcdCluster is deleted and created again from its volumes: the one that is kept is none of these.
func TestAutopilotDiverged(t *testing.T) {
	t.Parallel()
	editions(t, autopilotDiverged)
}

func autopilotDiverged(t *testing.T, etcd edition) {
	spec := onVolumes(3)
	spec.VolumeReclaimPolicy = v1beta2.VolumeReclaimRetain
	s := etcd.begin(t, "diverged", spec)
	s.settled()
	s.client()
	s.keepsValues()
	culprit, leader := s.followerPod(), s.leaderName()
	volume, id := s.claim(culprit.Name).UID, s.member(culprit.Name).ID
	s.diverge(culprit.Name, values[0])
	s.report("the member has diverged")

	began, joinable := time.Now(), s.refusesVolumes() // it takes minutes until anything is found, and the policy a moment until it is obeyed
	s.compacting("Auto Pilot holds back until another compaction shows the same", func(c *v1beta2.EtcdCluster) bool {
		return held(c, "divergedMember", v1beta2.ReasonDivergedMemberHeld, culprit.Name)
	})
	t.Logf("found once after %s", time.Since(began).Round(time.Second))
	s.undecidedWhileFrozen(leader)
	s.compacting("it is decided to replace the member", func(c *v1beta2.EtcdCluster) bool {
		return c.Status.Quarantined != nil && c.Status.Quarantined.Name == culprit.Name
	})
	s.staysWhileFrozen(leader, joinable)

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
	s.setsAside(culprit.Name, volume)
	s.createdAgain()
	s.setsAside(culprit.Name, volume)
}

// setsAside wants the volume of the member that was replaced to be kept, and the data of the others to be right.
func (s *story) setsAside(name string, volume types.UID) {
	s.t.Helper()
	s.keeps("", 1)
	if got := s.claim(name); got.UID != volume || got.DeletionTimestamp != nil {
		s.t.Errorf("the volume of %s is not kept: it had the UID %s, and has %s", name, volume, got.UID)
	}
	s.allHaveValues()
}

// createdAgain deletes the cluster, all but its volumes, and creates it again from these.
func (s *story) createdAgain() {
	s.t.Helper()
	must(s.t, s.writer.Stop(s.t.Context()))
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	must(s.t, s.Remove(s.t.Context(), limit))
	s.Cluster, err = env.NewCluster(s.t.Context(), s.Namespace, s.Name, object.Spec)
	must(s.t, err)
	must(s.t, s.Settled(s.t.Context(), limit))
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

// undecidedWhileFrozen freezes a voter over two compactions: without it nothing is compared, so it may not be decided to replace anybody. A difference that
// is not confirmed has the operator look every two seconds for ten minutes, so it would have decided by then.
func (s *story) undecidedWhileFrozen(name string) {
	s.t.Helper()
	thaw := s.freezes(name)
	defer thaw()
	for range 2 {
		s.compact()
	}
	s.look("compacted")
	members, pods := s.ids(), s.uids()
	s.never("a member is to be replaced although "+name+" is frozen and was not compared", quietFor, func(ctx context.Context) (bool, error) {
		c, err := s.Cluster.Get(ctx)
		if err != nil {
			return false, err
		}
		return c.Status.Quarantined != nil || s.ids() != members || s.uids() != pods, nil
	})
}

// staysWhileFrozen freezes a voter once it is decided to replace another one, and only then lets a new member join: nobody may join or go.
func (s *story) staysWhileFrozen(name string, joinable func()) {
	s.t.Helper()
	const waits = "it is replaced once all others are healthy; not healthy: "
	thaw := s.freezes(name)
	defer thaw()
	s.look("decided")
	s.isHeld("divergedMember", v1beta2.ReasonDivergedMemberHeld, waits+name)
	members, pods := s.ids(), s.uids()
	joinable()
	s.never("a member joins or goes although "+name+" is frozen", quietFor, func(context.Context) (bool, error) {
		return s.ids() != members || s.uids() != pods, nil
	})
	s.isHeld("divergedMember", v1beta2.ReasonDivergedMemberHeld, waits+name)
}

// refusesVolumes has the API server refuse new volumes, without which no member joins, and returns what lifts that.
func (s *story) refusesVolumes() (lift func()) {
	s.t.Helper()
	return deny(s.t, s.Namespace, rule{
		resource: "persistentvolumeclaims", operations: []admissionv1.OperationType{admissionv1.Create},
		allowed: "false", message: "no more volumes for now",
	})
}

// freezes stops a member's process, and waits until it is missed. The story's end thaws it at the latest.
func (s *story) freezes(name string) (thaw func()) {
	s.t.Helper()
	container := s.Namespace + "/" + name + "/etcd"
	thaw = func() { _ = nodes.Faults().ThawContainer(context.Background(), container) }
	s.t.Cleanup(thaw)
	must(s.t, nodes.Faults().FreezeContainer(s.t.Context(), container))
	must(s.t, harness.Await(s.t.Context(), name+" is seen not to be ready", limit, func(ctx context.Context) (string, bool) {
		c, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return inJSON(c.Status.Members), slices.Contains(c.Status.Members.Unready, name)
	}))
	return thaw
}

// leaderName is that of the member that leads.
func (s *story) leaderName() string {
	s.t.Helper()
	leader, err := s.Leader(s.t.Context())
	must(s.t, err)
	return leader.Name
}
