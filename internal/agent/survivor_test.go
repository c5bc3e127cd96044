package agent

import (
	"fmt"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestSurvivor saves what one of three members holds once the other two are lost for good, verifies that, and restores it: all that was
// acknowledged is there, above every revision that clients saw, in a cluster of another ID.
func TestSurvivor(t *testing.T) {
	const keys = 50
	c := embedtest.Start(t, 3)
	s := &server{endpoints: []string{"http://" + c.Members[1].Address}} // which has applied what it acknowledges
	s.connect(t)
	revision := s.put(t, keys)
	c.Members[0].Stop(t)
	c.Members[2].Stop(t)
	p := newPod(t)
	writer := task.Writer{Kind: task.KindRestore, Namespace: "ns", Name: "recover", UID: "22222222-2fa1-11d2-883f-0016d3cca427"}
	result := p.run(task.Task{Writer: writer, Backup: &task.Backup{
		Endpoints: s.endpoints, Cluster: task.Cluster{Namespace: "ns", Name: "example", ID: fmt.Sprintf("%x", c.ID)}, Compress: true, Shared: true,
		Verify: v1beta2.VerifyChecksum, AcceptStale: true,
	}})
	saved := result.Snapshot
	if result.Failure != nil || saved == nil || !saved.Stale || saved.Revision != revision || len(result.Warnings) != 1 {
		t.Fatalf("saved %+v, failure %+v, warnings %q", saved, result.Failure, result.Warnings)
	}
	found := p.must(verify(func(v *task.Verify) { v.Object, v.Trial = saved.Name, true }))
	if found.Snapshot.SHA256 != saved.SHA256 || found.Database == nil {
		t.Fatalf("verified %+v", found)
	}
	data := filepath.Join(t.TempDir(), "data")
	p.must(restore(found.Snapshot, data))
	again := start(t, func(c *embed.Config) { c.Dir = data })
	all, err := again.Get(t.Context(), "key-", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || all.Count != keys || all.Header.Revision < revision+task.RevisionBump || all.Header.ClusterId == c.ID {
		t.Errorf("restored %+v, %v", all, err)
	}
}
