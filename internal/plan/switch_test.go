package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// The steps of clients, and those of peers.
var (
	plainText   = member.Transport{}
	bothPlain   = member.Transport{ClientBoth: true}
	bothSecured = member.Transport{ClientTLS: true, ClientBoth: true}
	secured     = member.Transport{ClientTLS: true}

	peersBothPlain   = member.Transport{PeerBoth: true}
	peersBothSecured = member.Transport{PeerTLS: true, PeerBoth: true, PeerPort: member.OtherPeerPort}
	peersSecured     = member.Transport{PeerTLS: true, PeerPort: member.OtherPeerPort}
)

// untold is a transport of both schemes of whose other one nobody was told.
func untold(t member.Transport) *member.Transport {
	t.ClientUntold, t.PeerUntold = t.ClientBoth, t.PeerBoth
	return &t
}

// switching is a cluster with that committed transport, which its pods serve and its member list says, that is asked for another one.
func switching(has, asked member.Transport, change ...func(*Observed)) Observed {
	o := healthyCluster(3, true)
	o.Cluster.Transport, o.Cluster.SpecTransport, o.Cluster.Certified = has, asked, true
	for i := range o.Pods {
		o.Pods[i].Transport, o.Volumes[i].Transport = has.Served(), has.Served()
	}
	for i, m := range o.Etcd.Members {
		o.Etcd.Members[i].PeerURL = o.Cluster.PeerURL(m.Name)
		o.Etcd.Reached = append(o.Etcd.Reached, m.Name)
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// TestSwitchTransport takes each step of a switch once the one before is carried out, and turns back from each.
func TestSwitchTransport(t *testing.T) {
	behind := func(o *Observed) { o.Pods[2].Transport = plainText }
	uncertified := func(o *Observed) { o.Cluster.Certified = false }
	peers := member.Transport{PeerTLS: true}
	atOnce := func(clients, peers member.Transport) member.Transport {
		peers.ClientTLS, peers.ClientBoth = clients.ClientTLS, clients.ClientBoth
		return peers
	}
	for name, c := range map[string]struct {
		o    Observed
		want *member.Transport
	}{
		"nothing is asked for":         {switching(plainText, plainText), nil},
		"to TLS":                       {switching(plainText, secured), untold(bothPlain)},
		"to TLS, without certificates": {switching(plainText, secured, uncertified), nil},
		"all serve both":               {switching(*untold(bothPlain), secured), &bothSecured},
		"all serve both again":         {switching(bothPlain, secured), &bothSecured},
		"all serve both, but one's certificate is gone": {switching(bothPlain, secured, uncertified), nil},
		"clients are told, without certificates":        {switching(bothSecured, secured, uncertified), nil},
		"peers, one's certificate is gone":              {switching(peersBothPlain, peers, uncertified), nil},
		"peers are told, without certificates":          {switching(peersBothSecured, peers, uncertified), nil},
		"peers turn back, without certificates":         {switching(peersBothSecured, plainText, uncertified), &peersBothPlain},
		"one does not serve both yet":                   {switching(bothPlain, secured, behind), nil},
		"clients are told":                              {switching(bothSecured, secured), &secured},
		"clients are told, and may do without":          {switching(bothSecured, bothSecured), nil},
		"clients may do without on the way to TLS":      {switching(*untold(bothPlain), bothSecured), &bothSecured},
		"TLS, and clients may do without now":           {switching(secured, bothSecured), untold(bothSecured)},
		"all serve both, and clients may do without":    {switching(*untold(bothSecured), bothSecured), &bothSecured},
		"plain text, and clients are to have both":      {switching(plainText, bothSecured), untold(bothPlain)},
		"both, and clients are to do without TLS":       {switching(bothSecured, plainText), &bothPlain},
		"TLS":                        {switching(secured, secured), nil},
		"back to plain text":         {switching(secured, plainText), untold(bothSecured)},
		"back, without certificates": {switching(secured, plainText, uncertified), untold(bothSecured)},
		"back, all serve both":       {switching(bothSecured, plainText), &bothPlain},
		"back, clients are told":     {switching(bothPlain, plainText), &plainText},

		"peers to TLS":                        {switching(plainText, peers), untold(peersBothPlain)},
		"peers to TLS, without certificates":  {switching(plainText, peers, uncertified), nil},
		"peers, all serve both":               {switching(*untold(peersBothPlain), peers), &peersBothSecured},
		"peers, one does not serve both yet":  {switching(peersBothPlain, peers, behind), nil},
		"peers, all are listed":               {switching(peersBothSecured, peers), &peersSecured},
		"peers, one serves no TLS any more":   {switching(peersBothSecured, peers, behind), nil},
		"peers with TLS":                      {switching(peersSecured, peers), nil},
		"peers turn back at last":             {switching(peersBothPlain, plainText), &plainText},
		"peers turn back once some are told":  {switching(peersBothSecured, plainText), &peersBothPlain},
		"peers to plain text":                 {switching(peersSecured, plainText), untold(peersBothSecured)},
		"peers to plain text, without others": {switching(peersSecured, plainText, uncertified), untold(peersBothSecured)},

		"both at once":                   {switching(plainText, both), untold(atOnce(bothPlain, peersBothPlain))},
		"both, all serve both":           {switching(*untold(atOnce(bothPlain, peersBothPlain)), both), new(atOnce(bothSecured, peersBothSecured))},
		"both, all are told":             {switching(atOnce(bothSecured, peersBothSecured), both), new(atOnce(secured, peersSecured))},
		"peers follow clients":           {switching(bothSecured, both), untold(atOnce(secured, peersBothPlain))},
		"the spec cannot be carried out": {switching(plainText, secured, func(o *Observed) { o.Cluster.Invalid = &failure.Problem{} }), nil},
		"a member is down":               {switching(plainText, secured, func(o *Observed) { o.Pods[1].Ready = false; o.Etcd.Answers = o.Etcd.Answers[:1] }), nil},
		"an update is not done":          {switching(plainText, secured, template(0)), nil},
		"a downgrade is not done":        {switching(plainText, secured, lowering(0, 1)), nil},
		"members' data differ":           {alarmed(switching(plainText, secured), Alarm{Kind: AlarmCorrupt}), nil},
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

// TestGiveUpTransport gives up the scheme of which nobody was told, whatever else is wrong; what anybody was told of only once all members
// serve both.
func TestGiveUpTransport(t *testing.T) {
	none := func(*Observed) {}
	down := func(o *Observed) {
		o.Etcd = Etcd{}
		o.Pods[0].Transport, o.Volumes[0].Transport, o.Pods[2].StartProblem = plainText, plainText, "etcd ends at every start"
		o.Pods = slices.Delete(o.Pods, 1, 2)
	}
	invalid := func(o *Observed) { o.Cluster.Invalid = &failure.Problem{} }
	for name, c := range map[string]struct {
		has, asked member.Transport
		change     func(*Observed)
		want       *member.Transport
	}{
		"clients":                             {*untold(bothPlain), plainText, none, &plainText},
		"clients, from TLS":                   {*untold(bothSecured), secured, none, &secured},
		"clients, and members are down":       {*untold(bothPlain), plainText, down, &plainText},
		"peers, and members are down":         {*untold(peersBothPlain), plainText, down, &plainText},
		"peers, from TLS":                     {*untold(peersBothSecured), member.Transport{PeerTLS: true}, down, &peersSecured},
		"peers alone":                         {member.Transport{PeerBoth: true, PeerUntold: true, ClientBoth: true}, plainText, down, &bothPlain},
		"clients alone":                       {member.Transport{PeerBoth: true, ClientUntold: true, ClientBoth: true}, plainText, down, &peersBothPlain},
		"told once":                           {bothPlain, plainText, down, nil},
		"told":                                {bothSecured, plainText, down, nil},
		"peers told once":                     {peersBothPlain, plainText, down, nil},
		"peers told":                          {peersBothSecured, plainText, down, nil},
		"the other one is asked for":          {*untold(bothPlain), secured, down, nil},
		"the spec cannot be carried out":      {*untold(bothPlain), plainText, invalid, nil},
		"clients may do without":              {*untold(bothSecured), bothSecured, down, nil},
		"one scheme, which the spec asks for": {secured, secured, down, nil},
	} {
		o := switching(c.has, c.asked, c.change)
		a, ok := Next(o).(CommitTransport)
		if ok != (c.want != nil) || ok && a.Transport != *c.want {
			t.Errorf("%s: %+v", name, Next(o))
		}
		if effects := Effects(a, o); ok && (len(effects) != 1 || effects[0] != WriteStatus{}) {
			t.Errorf("%s: it takes %+v", name, effects)
		}
	}
}

// TestLostPodServesWhatItsVolumeStandsFor creates the pod of a member that an update has not reached with the transport that it had, unless
// that serves nobody who is told to connect.
func TestLostPodServesWhatItsVolumeStandsFor(t *testing.T) {
	for name, c := range map[string]struct{ has, stands, want member.Transport }{
		"before the first update":   {*untold(peersBothPlain), plainText, plainText},
		"after it":                  {*untold(peersBothPlain), peersBothPlain.Served(), peersBothPlain.Served()},
		"before the last update":    {peersSecured, peersBothSecured.Served(), peersSecured},
		"after it was given up":     {plainText, peersBothPlain.Served(), plainText},
		"marked as it was recorded": {peersBothPlain, peersBothPlain, peersBothPlain.Served()},
		"no mark of its transport":  {peersSecured, plainText, peersSecured},
		"on another port":           {peersSecured, member.Transport{PeerTLS: true}, peersSecured},
		"clients before the first":  {*untold(bothPlain), plainText, plainText},
		"clients before the last":   {secured, bothSecured, secured},
		"clients, no mark":          {secured, plainText, secured},
	} {
		o := withoutPod(switching(c.has, both), 1)
		o.Volumes[1].Transport = c.stands
		a, ok := Next(o).(CreatePods)
		if !ok || len(a.Pods) != 1 || a.Pods[0].Transport != c.want {
			t.Errorf("%s: %+v, want %+v", name, Next(o), c.want)
		}
	}
}

// TestOperatorConnects as clients are told, and as the spec asks where every member serves either.
func TestOperatorConnects(t *testing.T) {
	for _, c := range []struct {
		has, asked member.Transport
		tls        bool
	}{
		{plainText, secured, false},
		{*untold(bothPlain), secured, false}, // not all of them serve both yet
		{*untold(bothSecured), plainText, true},
		{bothSecured, secured, true},
		{bothSecured, plainText, false}, // the edit was rolled back
		{bothPlain, secured, true},
		{secured, plainText, true},
	} {
		if o := switching(c.has, c.asked); o.ByTLS() != c.tls {
			t.Errorf("has %+v, asked for %+v: by TLS is %v", c.has, c.asked, !c.tls)
		}
	}
	// An earlier operator did not record whether all serve both.
	for name, behind := range map[string]func(*Observed){
		"a pod":    func(o *Observed) { o.Pods[2].Transport = plainText },
		"a volume": func(o *Observed) { o.Volumes[2].Transport = plainText },
	} {
		o := switching(bothPlain, secured)
		for i := range o.Volumes {
			o.Volumes[i].Transport = bothPlain.Served()
		}
		if behind(&o); o.ByTLS() {
			t.Errorf("%s serves no TLS, and the operator connects by it", name)
		}
	}
}

// TestClientsReadBeforeTheCut serves clients by both schemes until they have read which one to use, and peers with them; what comes before
// does not wait.
func TestClientsReadBeforeTheCut(t *testing.T) {
	both, all := bothSecured, peersBothSecured
	all.ClientTLS, all.ClientBoth = true, true
	for _, c := range []struct {
		has   member.Transport
		asked member.Transport
		waits bool
	}{
		{both, secured, true},
		{all, member.Transport{PeerTLS: true, ClientTLS: true}, true},
		{bothPlain, plainText, true},
		{bothPlain, secured, false},
		{plainText, secured, false},
	} {
		o := switching(c.has, c.asked)
		o.Cluster.ClientsRead = o.Now.Add(time.Minute)
		w, waits := Next(o).(Wait)
		if waits != c.waits || waits && (w.After != time.Minute || w.Reason != v1beta2.ReasonSwitchingTransport) {
			t.Errorf("%+v to %+v: %+v", c.has, c.asked, Next(o))
		}
		o.Now = o.Cluster.ClientsRead
		if _, commits := Next(o).(CommitTransport); !commits {
			t.Errorf("%+v to %+v, a minute later: %+v", c.has, c.asked, Next(o))
		}
	}
}

// TestSwitchWaitsForCertificates says so.
func TestSwitchWaitsForCertificates(t *testing.T) {
	peers := member.Transport{PeerTLS: true}
	for _, c := range []struct{ has, asked member.Transport }{
		{plainText, secured}, {plainText, peers}, {bothSecured, secured}, {peersBothPlain, peers}, {peersBothSecured, peers},
	} {
		a := Next(switching(c.has, c.asked, func(o *Observed) {
			o.Cluster.Certified = false
			o.Etcd.Members[1].PeerURL = "http://c-1:2380"
		}))
		if w, ok := a.(Wait); !ok || w.Reason != v1beta2.ReasonSwitchingTransport || !strings.Contains(w.Message, "certificates") {
			t.Errorf("from %v to %v: %+v", c.has, c.asked, a)
		}
	}
}
