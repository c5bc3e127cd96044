package stories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// interval is the time between two backups of these stories, and hours what the clock is set by.
const (
	interval = 15 * time.Second
	hours    = 3 * time.Hour
)

// schedules has backups taken repeatedly where something is in the way.
func schedules(t *testing.T) {
	s := begin(t, "schedules", v1beta2.EtcdClusterSpec{Size: 1})
	s.settled()
	s.puts("key", 10)
	storage := s.volume()
	in := func(folder string) *v1beta2.Storage { return beside(storage, folder) }
	t.Run("10,000 objects of others", func(t *testing.T) { s.within(t).amongOthers(in("crowd")) })
	t.Run("two EtcdBackups", func(t *testing.T) { s.within(t).sharing(in("shared")) })
	t.Run("the clock", func(t *testing.T) { s.within(t).clockSet(in("clock")) })
}

// every asks for a backup at each interval.
func (s *story) every(name string, storage *v1beta2.Storage, keep int32) {
	s.t.Helper()
	s.backup(name, storage, func(spec *v1beta2.EtcdBackupSpec) {
		spec.BackupPolicy = &v1beta2.BackupPolicy{
			IntervalSeconds: int64(interval.Seconds()), MaxBackups: keep, TimeoutSeconds: 45,
		}
	})
}

// runs waits until so many more runs have succeeded.
func (s *story) runs(name string, n int) *v1beta2.EtcdBackup {
	s.t.Helper()
	object, seen := &v1beta2.EtcdBackup{}, map[string]bool{}
	s.until(name, object, func() (string, bool) {
		if len(object.Status.Snapshots) > 0 && object.Status.LastScheduleTime != nil && object.Status.Succeeded {
			seen[object.Status.LastScheduleTime.String()] = true
		}
		return inJSON(object.Status), len(seen) > n
	})
	return object
}

// suspended has no more backups taken, and returns how they ended.
func (s *story) suspended(name string) *v1beta2.EtcdBackup {
	s.t.Helper()
	object := &v1beta2.EtcdBackup{}
	must(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, object))
	before := object.DeepCopy()
	object.Spec.Suspend = true
	must(s.t, s.Client.Patch(s.t.Context(), object, client.MergeFrom(before)))
	s.until(name, object, func() (string, bool) {
		return inJSON(object.Status), object.Status.Run == nil && object.Status.ObservedGeneration == object.Generation
	})
	return object
}

// kept checks that the volume has what status lists, and nothing else of an EtcdBackup.
func (s *story) kept(folder string, want int, objects ...*v1beta2.EtcdBackup) {
	s.t.Helper()
	script := fmt.Sprintf("cd ../%s; set -- *.manifest.json; test $# -eq %d", folder, want)
	for _, o := range objects {
		for _, snapshot := range o.Status.Snapshots {
			script += fmt.Sprintf("; test -s %[1]s; test -s %[1]s.manifest.json", snapshot.Name)
		}
	}
	s.inStore(script)
}

// amongOthers takes backups in a folder that is full of what others have written, some of it as EtcdBackups do.
func (s *story) amongOthers(storage *v1beta2.Storage) {
	const stranger = "00000000000000000001_20200101T000000Z_deadbeef.db"
	s.inStore("mkdir -p ../crowd; cd ../crowd; i=0; while [ $i -lt 10000 ]; do : > other-$i; i=$((i+1)); done; : > " + stranger)
	start := time.Now()
	s.every("crowd", storage, 1)
	s.runs("crowd", 0)
	s.t.Logf("the first backup took %.1f s", time.Since(start).Seconds())
	s.runs("crowd", 2)
	object := s.suspended("crowd")
	if object.Status.SnapshotCount != 1 || !object.Status.Succeeded {
		s.t.Errorf("one backup is to be kept: %s", inJSON(object.Status))
	}
	s.kept("crowd", 1, object)
	s.inStore("cd ../crowd; test -e " + stranger + "; set -- other-*; test $# -eq 10000")
}

// sharing has two EtcdBackups write to one folder: they are never at work at the same time, and each keeps its own.
func (s *story) sharing(storage *v1beta2.Storage) {
	s.every("one", storage, 1)
	s.every("two", storage, 1)
	waited, seen := false, map[string]bool{}
	must(s.t, harness.Await(s.t.Context(), "each has run three times", 2*limit, func(ctx context.Context) (string, bool) {
		list := &v1beta2.EtcdBackupList{} // both as they are at one moment
		if err := env.List(ctx, list, client.InNamespace(s.Namespace)); err != nil {
			return err.Error(), false
		}
		working, runs := 0, map[string]int{}
		for _, b := range list.Items {
			if run := b.Status.Run; run != nil && run.RetryTime == nil {
				working++
			}
			if b.Status.LastScheduleTime != nil {
				seen[b.Name+" "+b.Status.LastScheduleTime.String()] = true
			}
			waited = waited || reasonOf(b.Status.Conditions, v1beta2.ConditionProgressing) == v1beta2.ReasonWaitingForStorage
		}
		if working > 1 {
			s.t.Fatalf("both are at work: %s", inJSON(list.Items))
		}
		for key := range seen {
			runs[key[:3]]++
		}
		return inJSON(list.Items), runs["one"] >= 3 && runs["two"] >= 3
	}))
	if !waited {
		s.t.Log("neither was ever seen to wait for the other")
	}
	one, two := s.suspended("one"), s.suspended("two")
	if one.Status.SnapshotCount != 1 || two.Status.SnapshotCount != 1 {
		s.t.Errorf("each keeps one: %s, %s", inJSON(one.Status), inJSON(two.Status))
	}
	s.kept("shared", 2, one, two)
}

// clockSet sets all clocks hours forward and back again: backups go on at the same pace, and the last good one stays.
func (s *story) clockSet(storage *v1beta2.Storage) {
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
		defer cancel()
		if err := nodes.Faults().RestoreClock(ctx); err != nil {
			s.t.Error(err)
		}
		if !s.t.Failed() {
			return
		}
		if err := renewTokens(ctx); err != nil {
			s.t.Error(err)
		}
	})
	s.every("clock", storage, 2)
	s.runs("clock", 1)
	must(s.t, nodes.Faults().JumpClock(s.t.Context(), hours))
	s.paced("forward")
	must(s.t, nodes.Faults().RestoreClock(s.t.Context()))
	// Kubernetes itself refuses the tokens that it has given out in the future.
	must(s.t, renewTokens(s.t.Context()))
	s.paced("back")
	object := s.suspended("clock")
	s.kept("clock", int(object.Status.SnapshotCount), object)
}

// paced waits for some runs, and checks that they were not more than there was time for.
func (s *story) paced(where string) {
	s.t.Helper()
	const runs = 7
	start := time.Now()
	object := s.runs("clock", runs)
	took := time.Since(start) // this program's own clock, which is not set
	s.t.Logf("%s: %d more runs in %.1f s: %s", where, runs, took.Seconds(), inJSON(object.Status))
	// One may have been about to end, the one that was missed comes at once, and the next may follow closely.
	if fastest := (runs - 3) * interval * 3 / 4; took < fastest {
		s.t.Errorf("the clock was set %s, and there were %d runs within %s", where, runs, took)
	}
}

// renewTokens restarts whoever has a token for the API server that may be of another time, and waits until all are back.
func renewTokens(ctx context.Context) error {
	deployments, daemons := &appsv1.DeploymentList{}, &appsv1.DaemonSetList{}
	if err := errors.Join(env.List(ctx, deployments), env.List(ctx, daemons)); err != nil {
		return err
	}
	var all [][]string
	for _, d := range deployments.Items {
		all = append(all, []string{"-n", d.Namespace, "deployment/" + d.Name})
	}
	for _, d := range daemons.Items {
		all = append(all, []string{"-n", d.Namespace, "daemonset/" + d.Name})
	}
	for _, verb := range [][]string{{"rollout", "restart"}, {"rollout", "status", "--timeout=3m"}} {
		for _, which := range all {
			if err := env.Run(ctx, slices.Concat(verb, which)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// reasonOf is the reason of a condition, empty if there is none.
func reasonOf(conditions []metav1.Condition, kind string) string {
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return c.Reason
	}
	return ""
}
