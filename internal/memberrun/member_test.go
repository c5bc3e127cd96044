package memberrun

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/types"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// firstPermit is what the operator computes for the only first member, by etcd's own code.
func firstPermit(t *testing.T, p *pod) member.Permit {
	t.Helper()
	const token = "token-1"
	peer, err := url.Parse(p.peerURL())
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := membership.NewClusterFromURLsMap(zap.NewNop(), token, types.URLsMap{p.name: {*peer}})
	if err != nil {
		t.Fatal(err)
	}
	return member.Permit{
		Mode: member.ModeNew, Token: token, InitialCluster: p.name + "=" + p.peerURL(), PodUID: p.uid, Attempt: 1,
		ClusterID: member.ID(cluster.ID()), MemberID: member.ID(cluster.MemberByName(p.name).ID),
	}
}

// firstMember is a running cluster of one.
func firstMember(t *testing.T) (*pod, member.Permit) {
	t.Helper()
	p := newPod(t, "db-0")
	permit := firstPermit(t, p)
	p.permit(permit)
	p.run()
	p.serves("/readyz")
	return p, permit
}

func TestFirstMember(t *testing.T) {
	p := newPod(t, "db-0")
	permit := firstPermit(t, p)
	p.run() // it waits: a permit is written when there is an address
	p.permit(permit)
	p.serves("/readyz")
	put, err := p.etcd().Put(t.Context(), "key", "kept")
	if err != nil {
		t.Fatal(err)
	}
	if id := member.ID(put.Header.ClusterId); id != permit.ClusterID {
		t.Errorf("cluster ID %s, want %s", id, permit.ClusterID)
	}
	if id := member.ID(put.Header.MemberId); id != permit.MemberID {
		t.Errorf("member ID %s, want %s", id, permit.MemberID)
	}

	// The container is killed and starts again, with the same permit and later with one to resume.
	resume := member.Permit{Mode: member.ModeResume, ClusterID: permit.ClusterID, MemberID: permit.MemberID}
	for _, next := range []member.Permit{permit, resume} {
		_ = p.end(syscall.SIGKILL)
		p.permit(next)
		p.run()
		p.serves("/readyz")
		got, err := p.etcd().Get(t.Context(), "key")
		if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "kept" {
			t.Fatalf("after a restart on mode %s: %v, %v", next.Mode, got, err)
		}
	}

	// The volume is wiped under it: no permit brings the old identity back.
	_ = p.end(syscall.SIGKILL)
	remove(t, p.data)
	p.run()
	p.refused(member.DataLost, 0)
	p.permit(permit)
	p.run()
	p.refused(member.DataLost, permit.Attempt)
	if _, err := os.Stat(p.data); !os.IsNotExist(err) {
		t.Errorf("a refusal touched the data directory: %v", err)
	}
}

// TestFirstStartCutShort has a log without entries, as etcd leaves it when it is killed while it makes one.
func TestFirstStartCutShort(t *testing.T) {
	p := newPod(t, "db-0")
	permit := firstPermit(t, p)
	if err := os.MkdirAll(p.data, 0o700); err != nil {
		t.Fatal(err)
	}
	writeLog(t, p.data, member.Identity{ClusterID: permit.ClusterID, MemberID: permit.MemberID}, 0)
	p.permit(permit)
	p.run()
	p.serves("/readyz")
}

// addLearner adds a learner to the cluster that the first member was permitted to start, and returns its pod and its permit to join.
func addLearner(t *testing.T, first *pod, permit member.Permit) (*pod, member.Permit) {
	t.Helper()
	joiner := newPod(t, "db-1")
	added, err := first.etcd().MemberAddAsLearner(t.Context(), []string{joiner.peerURL()})
	if err != nil {
		t.Fatal(err)
	}
	return joiner, member.Permit{
		Mode: member.ModeJoin, ClusterID: permit.ClusterID, MemberID: member.ID(added.Member.ID), Token: permit.Token,
		InitialCluster: permit.InitialCluster + "," + joiner.name + "=" + joiner.peerURL(), PodUID: joiner.uid, Attempt: 1,
	}
}

// TestLearner first has a permit with a list of members that is not the cluster's, and with a member that cannot be reached. etcd
// would end at that; the permit must not be used up by it.
func TestLearner(t *testing.T) {
	first, permit := firstMember(t)
	joiner, join := addLearner(t, first, permit)
	all := join.InitialCluster
	join.InitialCluster = all + ",db-2=http://127.0.0.1:1"
	joiner.permit(join)
	joiner.run()
	joiner.says("lists the members")
	join.InitialCluster = joiner.name + "=" + joiner.peerURL() + ",db-0=http://127.0.0.1:1"
	joiner.permit(join)
	joiner.says("connection refused")
	join.InitialCluster = all
	joiner.permit(join)
	joiner.serves("/livez")
	promote(t, first.etcd(), uint64(join.MemberID))
	joiner.serves("/readyz")

	// It keeps its identity without a permit for nothing, and does not take over another member's data.
	_ = joiner.end(syscall.SIGKILL)
	resume := member.Permit{Mode: member.ModeResume, ClusterID: join.ClusterID, MemberID: join.MemberID}
	joiner.permit(resume)
	joiner.run()
	joiner.serves("/readyz")
	_ = joiner.end(syscall.SIGTERM) // etcd ends by the signal, unless it is the first process
	_ = first.end(syscall.SIGKILL)
	joiner.data = first.data
	joiner.run()
	joiner.refused(member.ForeignData, 0)
}

// TestDiskReplacedUnderPod loses a member's log together with the file that its permit is used up, as when a node comes back with an empty disk
// and the kubelet makes the same pod's emptyDirs again: the member must not start without what it has acknowledged.
func TestDiskReplacedUnderPod(t *testing.T) {
	first, permit := firstMember(t)
	joiner, join := addLearner(t, first, permit)
	joiner.permit(join)
	joiner.run()
	promote(t, first.etcd(), uint64(join.MemberID))
	published(t, first.etcd(), joiner.name)
	_ = joiner.end(syscall.SIGKILL)
	remove(t, joiner.data)
	remove(t, pathsIn(joiner.dir).State)
	write(t, filepath.Join(pathsIn(joiner.dir).State, "placeholder"), "")
	joiner.run()
	joiner.refused(member.DataLost, 0)
	if _, err := os.Stat(joiner.data); !os.IsNotExist(err) {
		t.Errorf("a refusal touched the data directory: %v", err)
	}
}

// published waits until a member is listed with its name.
func published(t *testing.T, client *clientv3.Client, name string) {
	t.Helper()
	until(t, nil, func(ctx context.Context) error {
		// Without a read index: the other member, which has just got a vote, may not be there yet.
		listed, err := client.MemberList(ctx, clientv3.WithSerializable())
		if err == nil && !slices.ContainsFunc(listed.Members, func(m *etcdserverpb.Member) bool { return m.Name == name }) {
			err = fmt.Errorf("%s is not listed by name: %v", name, listed)
		}
		return err
	})
}

// promote waits until the learner is in sync, as the operator does.
func promote(t *testing.T, client *clientv3.Client, id uint64) {
	t.Helper()
	until(t, nil, func(ctx context.Context) error {
		_, err := client.MemberPromote(ctx, id)
		return err
	})
}

// TestEndWhileWaiting holds that a pod that waits, for a permit or for its peers, can be deleted without waiting out its grace period.
func TestEndWhileWaiting(t *testing.T) {
	nobody := newPermit(1)
	nobody.Mode, nobody.InitialCluster, nobody.PodUID = member.ModeJoin, "db-0=http://127.0.0.1:2,a=http://127.0.0.1:1", "db-0-uid"
	for what, permit := range map[string]*member.Permit{"waiting for the operator's permit": nil, "waiting until etcd may start": nobody} {
		t.Run(what, func(t *testing.T) {
			p := newPod(t, "db-0")
			if permit != nil {
				p.permit(*permit)
			}
			p.run()
			p.says(what)
			if err := p.end(syscall.SIGTERM); err != nil {
				t.Errorf("it ended with %v:\n%s", err, p.said())
			}
			if words, err := os.ReadFile(pathsIn(p.dir).Termination); err != nil || len(words) > 0 {
				t.Errorf("its last words are %q, %v", words, err)
			}
		})
	}
}

// TestCannotRun lists what is wrong whatever the data is. The permit is not used up by it: to say next time that data is lost
// would cost the member.
func TestCannotRun(t *testing.T) {
	for name, breakIt := range map[string]func(t *testing.T, p *pod){
		"no etcd": func(t *testing.T, p *pod) { remove(t, filepath.Join(p.dir, asEtcd)) },
		"not etcd": func(t *testing.T, p *pod) {
			remove(t, filepath.Join(p.dir, asEtcd))
			if err := os.Symlink("/bin/true", filepath.Join(p.dir, asEtcd)); err != nil {
				t.Fatal(err)
			}
		},
		"no pod":         func(_ *testing.T, p *pod) { p.uid = "" },
		"no name":        func(_ *testing.T, p *pod) { p.name = "" },
		"no permit":      func(t *testing.T, p *pod) { write(t, pathsIn(p.dir).Permit, "{}") },
		"no such option": func(_ *testing.T, p *pod) { p.options = map[string]string{"no-such-option": "1"} },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, "db-0")
			p.permit(firstPermit(t, p))
			breakIt(t, p)
			for range 2 {
				p.run()
				p.refused(member.BadConfig, 0)
			}
			if _, err := os.Stat(p.data); !os.IsNotExist(err) {
				t.Errorf("it touched the data directory: %v", err)
			}
		})
	}
}

// TestUnwritableData holds that a volume that cannot be written to is found before the permit is used up: the start fails for that
// reason every time, and not for lost data from the second time on.
func TestUnwritableData(t *testing.T) {
	p := newPod(t, "db-0")
	p.permit(firstPermit(t, p))
	p.data = "/proc/self/task" // nobody can make files there, root neither
	for range 2 {
		p.run()
		p.refused(member.BadConfig, 0)
	}
}
