package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// byEndpoints is a backup of an etcd that is no EtcdCluster, of which one is kept.
func (s *server) byEndpoints(change func(*task.Backup)) task.Task {
	return s.backup(func(b *task.Backup) {
		b.Cluster, b.Policy = task.Cluster{}, task.Policy{Last: 1}
		change(b)
	})
}

// TestEndpointsOfAnother has endpoints that lead to another etcd one night. Its data does not pass for that of the first, and displaces none.
func TestEndpointsOfAnother(t *testing.T) {
	p, before, after := newPod(t), start(t), start(t)
	before.put(t, 5)
	after.put(t, 9)
	m := p.written(nightly, task.Cluster{ID: before.id(t)}, time.Now().Add(-time.Hour), 5, false)
	stored := p.stored()
	message := p.fails(after.byEndpoints(plain), v1beta2.ReasonForeignBackups, true)
	for _, word := range []string{
		before.id(t), after.id(t), m.Object, p.storage.URL, "correct them", "another URL", "prefixPolicy", "spec.clusterID",
	} {
		if !strings.Contains(message, word) {
			t.Errorf("it does not say %q: %s", word, message)
		}
	}
	if now := p.stored(); !slices.Equal(stored, now) {
		t.Errorf("it holds %v, not %v", now, stored)
	}
	shared := func(b *task.Backup) { b.Shared = true }
	if result := p.run(after.byEndpoints(shared)); result.Failure != nil || len(result.Deleted) > 0 || len(result.Lineages) != 2 {
		t.Errorf("if it may: got %+v, %+v", result.Failure, result)
	}
	if result := p.run(after.byEndpoints(plain)); result.Failure != nil || slices.Contains(result.Deleted, m.Object) || len(result.Warnings) != 1 {
		t.Errorf("once one is there: got %+v, %+v", result.Failure, result)
	}
	p.fails(before.byEndpoints(plain), v1beta2.ReasonForeignBackups, true)
	elsewhere := p.storage
	p.storage.URL = "file:///elsewhere"
	p.must(before.byEndpoints(plain))
	p.storage = elsewhere
	if result := p.run(after.backup(plain)); result.Failure != nil { // an EtcdCluster says whose it is
		t.Errorf("of an EtcdCluster: %+v", result.Failure)
	}
}

// TestEndpointsOfAnotherByKey has the names of coreos/etcd-operator, which do not say who has written them.
func TestEndpointsOfAnotherByKey(t *testing.T) {
	p, before, after := newPod(t), start(t), start(t)
	before.put(t, 5)
	after.put(t, 9)
	keyed := func(key string) func(*task.Backup) {
		return func(b *task.Backup) { b.LegacyKey, b.Periodic = key, true }
	}
	p.must(before.byEndpoints(keyed("etcd")))
	p.must(after.byEndpoints(keyed("etcd-of-others")))
	p.fails(after.byEndpoints(keyed("etcd")), v1beta2.ReasonForeignBackups, true)
	p.must(before.byEndpoints(keyed("etcd")))
}

// TestLastUnreadable has the manifest of the last backup damaged: the one before says whose data it was. If none can be read, nobody knows.
func TestLastUnreadable(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 5)
	var all []string
	for i := range 2 {
		all = append(all, p.written(nightly, task.Cluster{ID: "a1"}, time.Now().Add(time.Duration(i-9)*time.Hour), int64(i+1), false).Object)
	}
	flip(t, p.object(all[1])+".manifest.json")
	if message := p.fails(s.byEndpoints(plain), v1beta2.ReasonForeignBackups, true); !strings.Contains(message, all[0]) {
		t.Errorf("it does not say %q: %s", all[0], message)
	}
	flip(t, p.object(all[0])+".manifest.json")
	if result := p.run(s.byEndpoints(plain)); result.Failure != nil || len(result.Warnings) == 0 || len(result.Deleted) > 0 {
		t.Errorf("got %+v, %+v", result.Failure, result)
	}
}
