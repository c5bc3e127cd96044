package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestAnnounce moves the voters to the other port one after the other, the leader last, on the hosts that they have in the member list, and
// no learner.
func TestAnnounce(t *testing.T) {
	o := switching(peersBothSecured, member.Transport{PeerTLS: true})
	var told []string
	for i := range o.Etcd.Members {
		o.Etcd.Members[i].PeerURL = "http://" + o.Etcd.Members[i].Name + ".elsewhere:2380"
	}
	for range o.Etcd.Members {
		a, ok := Next(o).(UpdatePeerURL)
		if !ok {
			t.Fatalf("after %v: %+v", told, Next(o))
		}
		for i, m := range o.Etcd.Members {
			if m.ID == a.ID && m.Name == a.Name {
				o.Etcd.Members[i].PeerURL = a.PeerURL
				told = append(told, a.PeerURL)
			}
		}
	}
	if want := []string{"https://c-1.elsewhere:2382", "https://c-2.elsewhere:2382", "https://c-0.elsewhere:2382"}; !slices.Equal(told, want) {
		t.Errorf("%v are told, the leader is %x", told, o.Etcd.Answers[0].Leader)
	}
	if a, ok := Next(o).(CommitTransport); !ok || a.Transport != peersSecured {
		t.Errorf("then: %+v", Next(o))
	}
	o.Etcd.Members[1].PeerURL = "http://c-1:2380"
	o.Cluster.SpecTransport = plainText
	if a, ok := Next(o).(CommitTransport); !ok || a.Transport != peersBothPlain {
		t.Errorf("nobody is told any more once it turns back: %+v", Next(o))
	}
	o = withLearner(switching(peersBothSecured, member.Transport{PeerTLS: true}), 3)
	o.Etcd.Members[1].PeerURL = "http://c-1:2380"
	for i := range o.Pods {
		o.Pods[i].Transport = peersBothSecured.Served()
	}
	if a, ok := Next(o).(UpdatePeerURL); ok {
		t.Errorf("%+v beside a learner", a)
	}
}

// TestAnnounceAwaitsConnections changes no second URL, and ends nothing, before all others have connected where the first one leads them; it
// turns back from there.
func TestAnnounceAwaitsConnections(t *testing.T) {
	peers := member.Transport{PeerTLS: true}
	for name, before := range map[string]func(o *Observed){
		"some are told": func(o *Observed) { o.Etcd.Members[2].PeerURL = "http://c-2:2380" },
		"all are told":  func(*Observed) {},
	} {
		o := switching(peersBothSecured, peers, before)
		unreached := o.Etcd.Members[1]
		o.Etcd.Reached = slices.DeleteFunc(o.Etcd.Reached, func(name string) bool { return name == unreached.Name })
		w, ok := Next(o).(Wait)
		if !ok || w.Reason != v1beta2.ReasonSwitchingTransport || !strings.Contains(w.Message, unreached.PeerURL) || w.After > 5*time.Second {
			t.Errorf("%s: %+v", name, Next(o))
		}
		o.Cluster.SpecTransport = plainText
		if a, ok := Next(o).(CommitTransport); !ok || a.Transport != peersBothPlain {
			t.Errorf("%s, back: %+v", name, Next(o))
		}
		o.Cluster.Transport = peersBothPlain
		o.Etcd.Reached = []string{o.Etcd.Members[2].Name} // by the URL that it had all along
		if a, ok := Next(o).(UpdatePeerURL); name == "some are told" && (!ok || !strings.HasPrefix(a.PeerURL, "http://")) {
			t.Errorf("%s, further back: %+v", name, Next(o))
		}
	}
}

// TestJoinsWhereOthersConnect adds members by the scheme of most voters in the middle of a switch: that others connect by the last one that was
// changed is unproven.
func TestJoinsWhereOthersConnect(t *testing.T) {
	const plain, secured = "http://c-3.c.ns.svc:2380", "https://c-3.c.ns.svc:2382"
	for title, c := range map[string]struct {
		has     member.Transport
		listed  []member.Transport // by whose URLs voters are listed, of whom the first is not reached
		reached bool
		want    string
	}{
		"one of three is told":                       {peersBothSecured, []member.Transport{peersBothSecured, plainText, plainText}, false, plain},
		"two of three":                               {peersBothSecured, []member.Transport{peersBothSecured, peersBothSecured, plainText}, false, secured},
		"one of two":                                 {peersBothSecured, []member.Transport{peersBothSecured, plainText}, false, plain},
		"one of two, and it is reached":              {peersBothSecured, []member.Transport{peersBothSecured, plainText}, true, secured},
		"one of three was told, it turns back":       {peersBothPlain, []member.Transport{peersBothSecured, plainText, plainText}, false, plain},
		"two of three were told, it turns back":      {peersBothPlain, []member.Transport{plainText, peersBothSecured, peersBothSecured}, false, secured},
		"one of two was told, it turns back":         {peersBothPlain, []member.Transport{peersBothSecured, plainText}, false, plain},
		"one of two is told again, it is unproven":   {peersBothPlain, []member.Transport{plainText, peersBothSecured}, false, secured},
		"the only one is told, and is alone with it": {peersBothSecured, []member.Transport{peersBothSecured}, false, secured},
	} {
		o := healthyCluster(len(c.listed), false)
		o.Cluster.Transport, o.Cluster.SpecTransport, o.Cluster.Certified, o.Cluster.Size = c.has, c.has, true, len(c.listed)+1
		for i, of := range c.listed {
			o.Pods[i].Transport, o.Etcd.Members[i].PeerURL = c.has.Served(), of.PeerURLAt("http://"+o.Etcd.Members[i].Name+".c.ns.svc:2380")
			if i > 0 || c.reached {
				o.Etcd.Reached = append(o.Etcd.Reached, o.Etcd.Members[i].Name)
			}
		}
		joins := waitingPod(3)
		joins.Transport = c.has.Served()
		o.Pods = append(o.Pods, joins)
		if a, ok := Next(o).(AddLearner); !ok || a.PeerURL != c.want {
			t.Errorf("%s: %+v, want one with %s", title, Next(o), c.want)
		}
	}
}

// TestJoinsByTheCommittedScheme adds members by the scheme and on the port that are committed, whatever the spec asks for.
func TestJoinsByTheCommittedScheme(t *testing.T) {
	for _, c := range []struct {
		has  member.Transport
		want string
	}{
		{plainText, "http://c-3.c.ns.svc:2380"},
		{peersBothPlain, "http://c-3.c.ns.svc:2380"},
		{peersBothSecured, "https://c-3.c.ns.svc:2382"},
		{peersSecured, "https://c-3.c.ns.svc:2382"},
		{member.Transport{PeerPort: member.OtherPeerPort}, "http://c-3.c.ns.svc:2382"},
	} {
		for _, asked := range []member.Transport{plainText, both} {
			o := switching(c.has, asked, func(o *Observed) {
				o.Cluster.Size, o.Cluster.Persistent, o.Volumes = 4, false, nil
				for i := range o.Pods {
					o.Pods[i].Persistent = false
				}
				o.Pods = append(o.Pods, waitingPod(3))
			})
			if a, ok := Next(o).(AddLearner); !ok || a.PeerURL != c.want {
				t.Errorf("%+v, asked for %+v: %+v, want one with %s", c.has, asked, Next(o), c.want)
			}
		}
	}
}
