package plan

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

var both = member.Transport{PeerTLS: true, ClientTLS: true}

// TestTransportIsRecorded has the IDs of an attempt to start follow from the transport that is recorded with it, whatever the spec
// asks for later.
func TestTransportIsRecorded(t *testing.T) {
	o := emptyCluster(1, false)
	o.Cluster.SpecTransport = both
	commit, ok := Next(o).(CommitBootstrap)
	if !ok {
		t.Fatalf("%+v", Next(o))
	}
	_, overTLS := IDs(commit.Bootstrap.Token, map[string]string{"c-0": "https://c-0.c.ns.svc:2380"})
	if commit.Bootstrap.ClusterID != overTLS {
		t.Errorf("the cluster ID is %x, that of peers over TLS is %x", commit.Bootstrap.ClusterID, overTLS)
	}
	o.Cluster.Record = o.Cluster.Apply(commit, o)
	if o.Cluster.Transport != both {
		t.Errorf("%v is recorded", o.Cluster.Transport)
	}
	o.Cluster.SpecTransport = member.Transport{}
	bind := commit
	bind.Bootstrap.InitialPods = []InitialPod{{Name: "c-0", PodUID: "p0"}}
	if o.Cluster.Record = o.Cluster.Apply(bind, o); o.Cluster.Transport != both {
		t.Errorf("%v is recorded once the pods are bound", o.Cluster.Transport)
	}
	if url := o.Cluster.PeerURL("c-0"); !strings.HasPrefix(url, "https://") {
		t.Errorf("the peer URL is %s", url)
	}
	next := commit
	next.Bootstrap.Incarnation = 2
	if o.Cluster.Record = o.Cluster.Apply(next, o); !o.Cluster.Transport.IsZero() {
		t.Errorf("%v is recorded of another attempt", o.Cluster.Transport)
	}
}

// TestTransportOfRestores keeps, with what a restore replaces, how it was reached.
func TestTransportOfRestores(t *testing.T) {
	o := healthyCluster(3, true)
	o.Cluster.Transport = both
	b := Bootstrap{Incarnation: 2, Token: "t", Members: []string{"c-3"}, Restore: "r"}
	o.Cluster.Record = o.Cluster.Apply(CommitBootstrap{Bootstrap: b}, o)
	if !o.Cluster.Transport.IsZero() || o.Cluster.Previous.Transport != both {
		t.Fatalf("%v replaces %v", o.Cluster.Transport, o.Cluster.Previous.Transport)
	}
	if o.Cluster.Record = o.Cluster.Apply(CancelRestore{}, o); o.Cluster.Transport != both {
		t.Errorf("%v is recorded once it is canceled", o.Cluster.Transport)
	}
}

// TestAdoptTransport adopts volumes only by a spec under which their members find each other.
func TestAdoptTransport(t *testing.T) {
	o := emptyCluster(1, true)
	o.Volumes = []Volume{{Name: "c-0", ClusterID: recordedID, MemberID: 1, Transport: both}, {Name: "c-1", ClusterID: recordedID}}
	if a, ok := Next(o).(Blocked); !ok || a.Reason != v1beta2.ReasonTLSSwitchNotSupported || !strings.Contains(a.Message, "volume c-0") {
		t.Errorf("%+v", Next(o))
	}
	o.Cluster.SpecTransport = both
	adopt, ok := Next(o).(Adopt)
	if !ok {
		t.Fatalf("%+v", Next(o))
	}
	if r := o.Cluster.Apply(adopt, o); r.Transport != both {
		t.Errorf("%v is recorded", r.Transport)
	}
}
