package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

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

// TestAdoptSwitchedTransport goes by what members are known to serve, and by both where the operator has left off between two of them.
func TestAdoptSwitchedTransport(t *testing.T) {
	asked := member.Transport{PeerTLS: true}
	switched := func(of member.Transport, clientsToo bool) member.Transport {
		of.ClientTLS = clientsToo
		return of
	}
	for title, c := range map[string]struct {
		asked         member.Transport
		volumes, pods []member.Transport
		want          member.Transport
		blocked       bool
	}{
		"plain text":                         {asked: plainText, volumes: []member.Transport{{}, {}}, want: plainText},
		"plain text, on the other port":      {asked: plainText, volumes: []member.Transport{{PeerPort: 2382}}, want: member.Transport{PeerPort: 2382}},
		"switched to TLS":                    {asked: asked, volumes: []member.Transport{peersSecured, peersSecured}, want: peersSecured},
		"on the way":                         {asked: asked, volumes: []member.Transport{peersBothSecured}, want: peersBothSecured},
		"on the way, nobody told":            {asked: asked, volumes: []member.Transport{peersBothPlain}, want: peersBothSecured},
		"at the first step":                  {asked: asked, volumes: []member.Transport{{}, peersBothPlain}, want: peersBothSecured},
		"at the last step":                   {asked: asked, volumes: []member.Transport{peersSecured, peersBothSecured}, want: peersBothSecured},
		"without TLS in the spec":            {asked: plainText, volumes: []member.Transport{peersSecured}, blocked: true},
		"on the way, without TLS in it":      {asked: plainText, volumes: []member.Transport{peersBothPlain}, blocked: true},
		"without TLS in the data":            {asked: asked, volumes: []member.Transport{{}}, blocked: true},
		"clients of volumes alone":           {asked: both, volumes: []member.Transport{peersSecured}, want: switched(peersSecured, true)},
		"clients as the pods serve them":     {asked: both, volumes: []member.Transport{peersSecured}, pods: []member.Transport{peersSecured}, want: peersSecured},
		"clients as some pods serve them":    {asked: both, volumes: []member.Transport{both}, pods: []member.Transport{asked, both}, want: member.Transport{PeerTLS: true, ClientTLS: true, ClientBoth: true}},
		"clients as all pods serve them":     {asked: asked, volumes: []member.Transport{asked}, pods: []member.Transport{{PeerTLS: true, ClientTLS: true, ClientBoth: true}}, want: member.Transport{PeerTLS: true, ClientBoth: true}},
		"some pods serve clients plain only": {asked: bothSecured, volumes: []member.Transport{{}}, pods: []member.Transport{{}, bothSecured}, want: *untold(bothPlain)},
		"some pods serve clients TLS only":   {asked: plainText, volumes: []member.Transport{{}}, pods: []member.Transport{bothSecured, secured}, want: *untold(bothSecured)},
		"without pods, as the spec asks":     {asked: bothSecured, volumes: []member.Transport{{}}, want: bothSecured},
		"clients had TLS alone":              {asked: bothSecured, volumes: []member.Transport{{}}, pods: []member.Transport{secured}, want: secured},
		"clients had both":                   {asked: bothSecured, volumes: []member.Transport{{}}, pods: []member.Transport{bothSecured}, want: bothSecured},
		"pods alone":                         {asked: asked, pods: []member.Transport{peersSecured}, want: peersSecured},
		"pods alone, one behind":             {asked: asked, pods: []member.Transport{peersBothPlain.Served(), {}}, want: peersBothSecured},
		"pods alone, without TLS in the end": {asked: plainText, pods: []member.Transport{peersSecured}, blocked: true},
	} {
		o := emptyCluster(1, len(c.volumes) > 0)
		o.Cluster.SpecTransport = c.asked
		for i, of := range c.volumes {
			o.Volumes = append(o.Volumes, Volume{Name: name(i), ClusterID: recordedID, MemberID: id(i), Transport: of})
		}
		for i, of := range c.pods {
			o.Pods = append(o.Pods, Pod{Name: name(i), Transport: of, Permit: &member.Permit{ClusterID: member.ID(recordedID)}})
		}
		a := Next(o)
		if _, blocked := a.(Blocked); blocked != c.blocked {
			t.Errorf("%s: %+v", title, a)
		}
		if got := o.Cluster.Apply(a, o).Transport; !c.blocked && got != c.want {
			t.Errorf("%s: %+v is recorded, want %+v", title, got, c.want)
		}
	}
}

// TestMarksOfTransport takes no step while a volume stands for another transport than its pod has, and puts that right first, for members that
// are not to be updated.
func TestMarksOfTransport(t *testing.T) {
	peers := member.Transport{PeerTLS: true}
	o := switching(peersBothPlain, peers)
	o.Volumes[1].Transport = plainText
	want := CorrectMark{Name: "c-1", UID: o.Volumes[1].UID, Version: "3.6.16", Made: true}
	if a := Next(o); a != want {
		t.Fatalf("%+v, want %+v", a, want)
	}
	mark := MarkVolume{Name: want.Name, UID: want.UID, Version: want.Version, Template: MarkPodTemplate}
	if effects := Effects(want, o); !slices.Equal(effects, []Effect{mark}) {
		t.Errorf("%+v, want %+v", effects, mark)
	}
	o.Refused = []Refusal{{Target: TargetOf(mark), RetryAt: o.Now.Add(time.Minute)}}
	if a, ok := Next(o).(CommitTransport); ok {
		t.Errorf("the mark is refused, and %+v follows", a)
	}
	o.Volumes[1].Transport = peersBothPlain // as volumes are marked that were made in the middle of a switch
	if a, ok := Next(o).(CommitTransport); !ok || a.Transport != peersBothSecured {
		t.Errorf("%+v", a)
	}
	behind := switching(peersBothPlain, peers, func(o *Observed) {
		o.Pods[1].Transport, o.Pods[1].Drift.Template, o.Volumes[1].Transport = plainText, true, plainText
	})
	if a, ok := Next(behind).(CorrectMark); ok {
		t.Errorf("%+v of a member that is to be updated", a)
	}
}
