package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestHibernate stops clusters of each minor release while a client writes, and starts them again: nothing is lost, and nobody has taken
// members that were stopped for lost.
func TestHibernate(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.5.35", "3.6.16", "3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			spec := onVolumes(3)
			spec.Version = version
			s := begin(t, "hibernate-"+strings.ReplaceAll(version[:3], ".", "-"), spec)
			s.settled()
			s.client()
			before := s.identity()
			s.reader().runs(s.commands("operations.md", "Hibernation", `"hibernate":true`))
			s.asleep(3)
			s.hibernates(false)
			s.healthy("awake")
			s.settled()
			s.report("after the cluster woke up")
			if after := s.identity(); after != before {
				t.Errorf("it was\n%s, and is\n%s", before, after)
			}
			s.unsaid(v1beta2.ReasonQuorumLost)
		})
	}
}

// TestHibernateLater has a cluster hibernate that is being scaled up, and one of its volumes deleted while nobody uses it: the learner is
// waited for, and the member that is lost is replaced once the others run again.
func TestHibernateLater(t *testing.T) {
	t.Parallel()
	editions(t, hibernateLater)
}

func hibernateLater(t *testing.T, etcd edition) {
	s := etcd.begin(t, "hibernate-later", onVolumes(1))
	s.settled()
	s.client()
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Size, spec.Hibernate = 3, true }))
	s.asleep(3)
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	if ms := object.Status.MemberStatuses; len(ms) != 3 || slices.ContainsFunc(ms, func(m v1beta2.MemberStatus) bool { return m.Role != v1beta2.MemberRoleVoter }) {
		t.Errorf("it hibernates with %+v", ms)
	}
	lost := object.Status.MemberStatuses[1].Name
	must(t, s.Client.Delete(t.Context(), s.claim(lost)))
	s.hibernates(false)
	s.healthy("awake, with another member")
	s.settled()
	s.report("a volume was deleted while it hibernated")
}

func (s *story) hibernates(is bool) {
	s.t.Helper()
	must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Hibernate = is }))
}

// asleep waits until all members are stopped, and wants their volumes to be there, and status to say that nothing is wrong.
func (s *story) asleep(volumes int) {
	s.t.Helper()
	s.says(v1beta2.ConditionProgressing, v1beta2.ReasonHibernated)
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonHibernated)
	must(s.t, harness.Await(s.t.Context(), "no pods", limit, func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx)
		return fmt.Sprintf("%d pods, %v", len(pods), err), err == nil && len(pods) == 0
	}))
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	claims := &corev1.PersistentVolumeClaimList{}
	must(s.t, env.List(s.t.Context(), claims, client.InNamespace(s.Namespace), client.MatchingLabels(resources.ClusterSelector(s.Name))))
	if st := object.Status; st.Hibernation != string(plan.Hibernated) || st.Phase != v1beta2.ClusterPhaseHibernated || st.QuorumLostSince != nil || len(claims.Items) != volumes {
		s.t.Errorf("%d claims, and status is %s", len(claims.Items), inJSON(st))
	}
}

// identity is what stays of a cluster whatever its pods do: its ID, and those of its members.
func (s *story) identity() string {
	s.t.Helper()
	var says string
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, c *clientv3.Client) error {
		list, err := c.MemberList(ctx)
		if err != nil {
			return err
		}
		var all []string
		for _, m := range list.Members {
			all = append(all, fmt.Sprintf("%s is %x", m.Name, m.ID))
		}
		slices.Sort(all)
		says = fmt.Sprintf("%x: %s", list.Header.ClusterId, strings.Join(all, ", "))
		return nil
	}))
	return says
}

// TestHibernateRestored restores a backup into a cluster that hibernates: it starts from the snapshot, what it held is kept, and it hibernates
// again. No backup is due meanwhile.
func TestHibernateRestored(t *testing.T) {
	t.Parallel()
	editions(t, hibernateRestored)
}

func hibernateRestored(t *testing.T, etcd edition) {
	s := etcd.begin(t, "hibernate-restored", onVolumes(1))
	s.settled()
	s.puts("before", 20)
	s.backup("every", s.minio(), func(spec *v1beta2.EtcdBackupSpec) { spec.Schedule = "@every 1m" })
	s.backedUp("every")
	s.puts("after", 20)
	s.hibernates(true)
	s.asleep(1)
	backup := &v1beta2.EtcdBackup{}
	s.until("every", backup, func() (string, bool) {
		says := meta.FindStatusCondition(backup.Status.Conditions, v1beta2.ConditionProgressing)
		return inJSON(backup.Status), says != nil && says.Reason == v1beta2.ReasonHibernated && meta.FindStatusCondition(backup.Status.Conditions, v1beta2.ConditionUpToDate) == nil
	})
	start := time.Now()
	s.restore("back", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "every"}, Snapshot: backup.Status.Snapshots[len(backup.Status.Snapshots)-1].Name})
	restored := s.restored("back")
	t.Logf("from the EtcdRestore until it was completed: %.1f s, %s", time.Since(start).Seconds(), inJSON(restored.Status))
	s.asleep(2)
	s.hibernates(false)
	s.healthy("awake")
	s.has("before", 20)
	s.keeps("back", 1)
}
