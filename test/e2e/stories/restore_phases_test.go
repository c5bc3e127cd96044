package stories

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// operatorKilledInPhases kills the operator wherever a restore may be: each is carried out, and once.
func operatorKilledInPhases(t *testing.T) {
	s := begin(t, "phases", onVolumes(3))
	s.settled()
	s.puts("before", 20)
	s.backup("first", s.minio(), nil)
	s.backedUp("first")
	for _, c := range []struct {
		name string
		at   func(*story, *v1beta2.EtcdRestore) (string, bool)
	}{
		{"verifying", func(_ *story, r *v1beta2.EtcdRestore) (string, bool) {
			return "", r.Status.Phase == v1beta2.RestoreVerifying && r.Status.Run != nil
		}},
		{"saving", func(_ *story, r *v1beta2.EtcdRestore) (string, bool) {
			return "", r.Status.Phase == v1beta2.RestoreSaving && r.Status.Run != nil
		}},
		{"replacing", func(_ *story, r *v1beta2.EtcdRestore) (string, bool) {
			return "", r.Status.Phase == v1beta2.RestoreReplacing
		}},
		{"restoring", (*story).restoring},
		{"joining", (*story).joining},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := s.within(t)
			told.puts("after", 5)
			told.restore(c.name, v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "first"}})
			object := &v1beta2.EtcdRestore{}
			told.until(c.name, object, func() (string, bool) {
				seen, there := c.at(told, object)
				return seen + inJSON(object.Status), there
			})
			start := time.Now()
			told.killOperator()
			told.restored(c.name)
			t.Logf("restored %.1f s after the operator was killed", time.Since(start).Seconds())
			told.carriedOutOnce(object.UID)
		})
	}
}

// restoring holds while the pod of the first member is there whose init container restores it.
func (s *story) restoring(r *v1beta2.EtcdRestore) (string, bool) {
	if r.Status.Phase != v1beta2.RestoreReplacing {
		return "", false
	}
	pods, err := s.Pods(s.t.Context())
	for _, p := range pods {
		if slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == "restore" }) {
			s.t.Logf("pod %s: %s", p.Name, inJSON(p.Status.InitContainerStatuses))
			return "", true
		}
	}
	return fmt.Sprintf("%d pods, %v; ", len(pods), err), false
}

// joining holds while the restored member serves, and not all of the others do.
func (s *story) joining(r *v1beta2.EtcdRestore) (string, bool) {
	c, err := s.Cluster.Get(s.t.Context())
	if err != nil {
		return err.Error(), false
	}
	ready := len(c.Status.Members.Ready)
	return harness.Words(c), record(c, r.UID) == 1 && c.Status.ClusterID != "" && ready >= 1 && ready < int(c.Spec.Size)
}

// record counts what a cluster has noted of a restore.
func record(c *v1beta2.EtcdCluster, uid types.UID) (n int) {
	for _, r := range c.Status.Restores {
		if r.UID == string(uid) {
			n++
		}
	}
	return n
}

// carriedOutOnce checks that the cluster runs on what was backed up, and began with it once.
func (s *story) carriedOutOnce(restore types.UID) {
	s.t.Helper()
	s.healthy("restored")
	s.settled()
	s.has("before", 20)
	s.has("after", 0)
	c, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	if n := record(c, restore); n != 1 {
		s.t.Errorf("the cluster has %d records of the restore: %s", n, inJSON(c.Status.Restores))
	}
	s.clean()
}

// restoredWhileChanging restores a cluster whose members are just being changed.
func restoredWhileChanging(t *testing.T) {
	older := onVolumes(3)
	older.Version = "3.6.16"
	for _, c := range []struct {
		name   string
		spec   v1beta2.EtcdClusterSpec
		change func(*v1beta2.EtcdClusterSpec)
		under  func(v1beta2.EtcdClusterStatus) bool
	}{
		{
			"grown", onVolumes(3), func(spec *v1beta2.EtcdClusterSpec) { spec.Size = 5 },
			func(status v1beta2.EtcdClusterStatus) bool { return len(status.MemberStatuses) > 3 },
		},
		{
			"shrunk", onVolumes(5), func(spec *v1beta2.EtcdClusterSpec) { spec.Size = 3 },
			func(status v1beta2.EtcdClusterStatus) bool { return status.Size < 5 }, // it takes a second or two
		},
		{
			"updated", older, func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.7.3" },
			func(status v1beta2.EtcdClusterStatus) bool {
				return status.UpdatedMembers >= 1 && status.UpdatedMembers < 3
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, c.name, c.spec)
			s.settled()
			s.puts("before", 20)
			s.backup("first", s.minio(), nil)
			s.backedUp("first")
			s.puts("after", 5)
			s.edit(c.change)
			must(t, harness.Await(t.Context(), "the change is under way", limit, s.is(c.under)))
			s.restore("back", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "first"}})
			r := s.restored("back")
			must(t, s.Updated(t.Context(), limit))
			s.carriedOutOnce(r.UID)
		})
	}
}

// is holds when the status of the present spec does.
func (s *story) is(holds func(v1beta2.EtcdClusterStatus) bool) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return harness.Words(object), object.Status.ObservedGeneration == object.Generation && holds(object.Status)
	}
}
