package plan

import (
	"os"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestLegacy is about what coreos/etcd-operator has left, alive or not.
func TestLegacy(t *testing.T) {
	living := func(edits ...func(*Observed)) Observed {
		return edit(emptyCluster(3, false), append([]func(*Observed){func(o *Observed) {
			for _, name := range []string{"c-0000", "c-pqr7x"} {
				o.Pods = append(o.Pods, Pod{Name: name, UID: name, Phase: Running, IP: "10.0.0.9", Legacy: true})
			}
		}}, edits...)...)
	}
	stays := Blocked{Reason: v1beta2.ReasonLegacyMembers}
	ran := func(edits ...func(*Observed)) Observed {
		return edit(emptyCluster(3, false), append([]func(*Observed){func(o *Observed) { o.Cluster.RanBefore = true }}, edits...)...)
	}
	check(t, map[string]planCase{
		"members that serve": {living(), stays},
		"members that ended may have data on their nodes": {
			living(func(o *Observed) { o.Pods[0].Phase, o.Pods[1].Phase = Finished, Finished }), stays,
		},
		"volumes without pods": {
			edit(emptyCluster(3, true), func(o *Observed) { o.Volumes = []Volume{{Name: "c-0000", Legacy: true, Foreign: "unmarked"}} }), stays,
		},
		"beside volumes that could be taken up": {
			living(func(o *Observed) { o.Volumes = []Volume{{Name: "c-1", ClusterID: recordedID, MemberID: 1}} }), stays,
		},
		"with a restore that is due": {living(func(o *Observed) { o.Cluster.Restore = "r" }), stays},
		"with a spec that cannot work": {
			living(func(o *Observed) { o.Cluster.Invalid = &failure.Problem{Reason: v1beta2.ReasonUnsupportedVersion} }), stays,
		},
		"with a Service that has lost its owner": {
			living(func(o *Observed) { o.Conflicts = []Conflict{{Kind: "Service", Name: "c-client"}} }), stays,
		},
		"deleted with the object": {
			living(func(o *Observed) { o.Cluster.Deleting = true }), Idle{Reason: v1beta2.ReasonTerminating},
		},
		"nothing is left but a word of it: not started empty": {ran(), Blocked{Reason: v1beta2.ReasonRanBefore}},
		"which is said before the version": {
			ran(func(o *Observed) { o.Cluster.Invalid = &failure.Problem{Reason: v1beta2.ReasonUnsupportedVersion} }),
			Blocked{Reason: v1beta2.ReasonRanBefore},
		},
		"started from a snapshot": {
			ran(func(o *Observed) { o.Cluster.Restore = "r" }),
			CommitBootstrap{Bootstrap: newView(emptyCluster(3, false)).newBootstrap(1, []string{"c-0"}, "r")},
		},
		"to be started from a snapshot": {
			ran(func(o *Observed) { o.Cluster.WaitsForRestore = "r" }), Wait{Reason: v1beta2.ReasonWaitingForRestore},
		},
		"data of this operator's is taken up": {
			ran(func(o *Observed) { o.Volumes = []Volume{{Name: "c-1", ClusterID: recordedID, MemberID: 1}} }),
			Adopt{ClusterID: recordedID, Volumes: []string{"c-1"}},
		},
	})
	message := Describe(Next(living())).Message
	for _, says := range []string{"pods c-0000, c-pqr7x", "coreos/etcd-operator", "continue to run", "from etcd 3.4 on an EtcdBackup", "Do not delete", "/docs/migrate.md#from-coreosetcd-operator"} {
		if !strings.Contains(message, says) {
			t.Errorf("it does not say %q: %s", says, message)
		}
	}
	ended := living(func(o *Observed) { o.Pods[0].Phase, o.Pods[1].Phase = Finished, Finished })
	volumes := edit(emptyCluster(3, true), func(o *Observed) { o.Volumes = []Volume{{Name: "c-0000", Legacy: true, Foreign: "unmarked"}} })
	for _, o := range []Observed{ended, volumes} {
		if message := Describe(Next(o)).Message; strings.Contains(message, "run") || !strings.Contains(message, "left as they are") {
			t.Errorf("what does not run is said to: %s", message)
		}
	}
	// People at risk are sent to what to do, not to a link to it.
	document, err := os.ReadFile("../../docs/migrate.md")
	_, section, found := strings.Cut(string(document), "\n## From coreos/etcd-operator\n")
	if err != nil || !found || !strings.Contains(section, "`"+v1beta2.ReasonLegacyMembers+"`") {
		t.Errorf("docs/migrate.md does not say under that title what to do: %v", err)
	}
}

// TestNothingIsKnown wants no advice to delete what nobody has looked at.
func TestNothingIsKnown(t *testing.T) {
	o := edit(emptyCluster(3, true), func(o *Observed) { o.Volumes = []Volume{{Name: "c-0"}} })
	if got := Describe(Next(o)); got.Reason != v1beta2.ReasonVolumesExist || !strings.Contains(got.Message, "save their data") {
		t.Errorf("%+v", got)
	}
}
