package plan

import (
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

var (
	plainText   = member.Transport{}
	bothPlain   = member.Transport{ClientBoth: true}
	bothSecured = member.Transport{ClientTLS: true, ClientBoth: true}
	secured     = member.Transport{ClientTLS: true}
)

// switching is a cluster with that committed transport, which its pods serve, that is asked for another one.
func switching(has, asked member.Transport, change ...func(*Observed)) Observed {
	o := healthyCluster(3, true)
	o.Cluster.Transport, o.Cluster.SpecTransport, o.Cluster.Certified = has, asked, true
	for i := range o.Pods {
		o.Pods[i].Transport = has.Served()
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// TestSwitchClients takes each step of a switch once the one before is carried out, and turns back from each.
func TestSwitchClients(t *testing.T) {
	behind := func(o *Observed) { o.Pods[2].Transport = plainText }
	uncertified := func(o *Observed) { o.Cluster.Certified = false }
	allowed := func(o *Observed) { o.Cluster.PlainClients = true }
	for name, c := range map[string]struct {
		o    Observed
		want *member.Transport
	}{
		"nothing is asked for":                           {switching(plainText, plainText), nil},
		"to TLS":                                         {switching(plainText, secured), &bothPlain},
		"to TLS, without certificates":                   {switching(plainText, secured, uncertified), nil},
		"all serve both":                                 {switching(bothPlain, secured), &bothSecured},
		"one does not serve both yet":                    {switching(bothPlain, secured, behind), nil},
		"clients are told":                               {switching(bothSecured, secured), &secured},
		"clients are told, and may do without":           {switching(bothSecured, secured, allowed), nil},
		"TLS, and clients may do without now":            {switching(secured, secured, allowed), &bothSecured},
		"TLS":                                            {switching(secured, secured), nil},
		"back to plain text":                             {switching(secured, plainText), &bothSecured},
		"back, without certificates":                     {switching(secured, plainText, uncertified), &bothSecured},
		"back, all serve both":                           {switching(bothSecured, plainText), &bothPlain},
		"back, clients are told":                         {switching(bothPlain, plainText), &plainText},
		"the spec cannot be carried out":                 {switching(plainText, secured, func(o *Observed) { o.Cluster.Invalid = &failure.Problem{} }), nil},
		"a member is down":                               {switching(plainText, secured, func(o *Observed) { o.Pods[1].Ready = false; o.Etcd.Answers = o.Etcd.Answers[:1] }), nil},
		"of peers, which stay as they are, with clients": {switching(plainText, both), &bothPlain},
	} {
		a := Next(c.o)
		commit, ok := a.(CommitTransport)
		switch {
		case c.want == nil && ok, c.want != nil && (!ok || commit.Transport != *c.want):
			t.Errorf("%s: %T %+v", name, a, a)
		case ok && c.o.Cluster.Apply(a, c.o).Transport != *c.want:
			t.Errorf("%s: %+v is recorded", name, c.o.Cluster.Apply(a, c.o).Transport)
		}
	}
}
