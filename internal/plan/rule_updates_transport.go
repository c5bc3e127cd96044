package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// switchTransport takes the next step of a switch between plain text and TLS, of clients, of peers, or of both at once. Whoever is told to
// connect by a scheme is able to, because it is served by then, and none is taken away while anybody is still told of it:
//
//   - Members serve both schemes. If that takes certificates, they are there before. Every step towards TLS waits for them, the way back for none.
//     Until all do, nobody is told of the other one, and it can be given up at once: see giveUpTransport.
//   - Clients are told to use the new one: the operator itself does from then on, so the last step takes a quorum that it reaches that way.
//     Members that join do so by the new one, and the voters' URLs in the member list are changed to it one after the other.
//   - Members serve the new one only.
//
// Between the steps, the members are updated like after an edit of the spec: twice for a whole switch. It may turn back at any step. A member
// that an update has not reached, or whose pod is lost meanwhile, serves what is told as well (see transportOn).
func switchTransport(v *view) Action {
	step := v.nextSwitch()
	if step == nil {
		return nil
	}
	if len(v.learners) > 0 || v.updating() || v.downgradeTarget() != "" {
		return v.InProgress
	}
	if p := v.Alarm; p != nil && p.Reason == v1beta2.ReasonCorrupt {
		return Blocked(*p)
	}
	if waiting := v.waitForVoters(0); waiting != nil {
		return waiting
	}
	if v.InProgress != nil {
		return v.InProgress
	}
	return step
}

// giveUpTransport has members serve the told scheme alone again, of clients, of peers, or of both, if the spec asks for that and nobody was
// told of the other one. Whatever they serve meanwhile, they serve the told one, so this waits for nothing: neither for a quorum nor for
// members that cannot start with both. It comes before pods are created or updated, which would be for the switch.
func giveUpTransport(v *view) Action {
	has, asked := v.Cluster.Transport, v.Cluster.SpecTransport
	next := has
	if has.PeerBoth && has.PeerUntold && has.PeerTLS == asked.PeerTLS {
		next.PeerBoth, next.PeerUntold = false, false
	}
	if has.ClientBoth && has.ClientUntold && has.ClientTLS == asked.ClientTLS && !asked.ClientBoth {
		next.ClientBoth, next.ClientUntold = false, false
	}
	if v.Cluster.Invalid != nil || next == has {
		return nil
	}
	return CommitTransport{next}
}

// nextSwitch is the next step, nil if none is due: before it, every member serves what the last one says.
func (v *view) nextSwitch() Action {
	has, asked := v.Cluster.Transport, v.Cluster.SpecTransport
	if v.Cluster.Invalid != nil || !v.serve(has) {
		return nil
	}
	if a := v.announcement(); a != nil {
		return a
	}
	next := v.nextClients(v.nextPeers(has))
	if left := v.Cluster.ClientsRead.Sub(v.Now); left > 0 && has.ClientBoth && !next.ClientBoth {
		return Wait{
			Reason: v1beta2.ReasonSwitchingTransport, After: left,
			Message: fmt.Sprintf("clients are told to use %s: waiting until %s before they are served by nothing else, so that they have read it, "+
				"counted from the last write of their Secrets",
				next.ClientScheme(), v.Cluster.ClientsRead.UTC().Format(time.RFC3339)),
		}
	}
	if next != has {
		return CommitTransport{next}
	}
	if has.PeerTLS != asked.PeerTLS || has.ClientTLS != asked.ClientTLS || !v.Cluster.Certified && v.switching(has) {
		return Wait{
			Reason: v1beta2.ReasonSwitchingTransport, After: pollRare,
			Message: fmt.Sprintf("the members have %s, and the spec asks for %s: waiting for their certificates, of which the condition "+
				"CertificatesValid tells", has, asked),
		}
	}
	return nil
}

// switching reports whether a switch towards TLS is under way.
func (v *view) switching(t member.Transport) bool {
	asked := v.Cluster.SpecTransport
	return asked.PeerTLS && t.PeerBoth || asked.ClientTLS && t.ClientBoth && !asked.ClientBoth
}

// nextPeers is the transport after the next step of the peers' switch. What is in the member list is changed in between: see announcement.
func (v *view) nextPeers(t member.Transport) member.Transport {
	asked := v.Cluster.SpecTransport.PeerTLS
	switch {
	case asked && !v.Cluster.Certified:
	case t.PeerBoth && t.PeerTLS != asked:
		return t.OtherPeers()
	case t.PeerBoth:
		t.PeerBoth, t.PeerUntold = false, false
	case t.PeerTLS != asked:
		t.PeerBoth, t.PeerUntold = true, true
	}
	return t
}

// nextClients is the same for clients. They are served without TLS, too, for as long as the spec allows that.
func (v *view) nextClients(t member.Transport) member.Transport {
	asked := v.Cluster.SpecTransport
	switch {
	case asked.ClientTLS && !v.Cluster.Certified:
	case t.ClientBoth && t.ClientTLS != asked.ClientTLS:
		t.ClientTLS, t.ClientUntold = asked.ClientTLS, false
	case t.ClientBoth:
		t.ClientBoth, t.ClientUntold = asked.ClientBoth, false
	case t.ClientTLS != asked.ClientTLS, asked.ClientBoth:
		t.ClientBoth, t.ClientUntold = true, true
	}
	return t
}

// announcement changes the URL of the next voter that the member list does not have by the committed scheme, the leader's last; nil if
// there is none, or if the spec asks for the other scheme by now. Two members are connected by either one's URL, so that the last one changed
// would be the first of which anybody notices. Therefore it stops while certificates are missing, and after each one until all others have
// connected there: a NetworkPolicy of the user's may keep them from it.
func (v *view) announcement() Action {
	t := v.Cluster.Transport
	if t.PeerTLS != v.Cluster.SpecTransport.PeerTLS || t.PeerTLS && !v.Cluster.Certified {
		return nil
	}
	if a := v.awaitReached(t); a != nil {
		return a
	}
	var last Action
	for _, m := range v.voters {
		url := t.PeerURLAt(m.PeerURL)
		if url == m.PeerURL {
			continue
		}
		if last = (UpdatePeerURL{ID: m.ID, Name: m.Name, PeerURL: url}); m.ID != v.Leader {
			return last
		}
	}
	return last
}

// awaitReached waits for the first voter that is listed by the committed scheme and that not all others have connected to.
func (v *view) awaitReached(t member.Transport) Action {
	for _, m := range v.voters {
		if t.PeerBoth && t.PeerURLAt(m.PeerURL) == m.PeerURL && !slices.Contains(v.Etcd.Reached, m.Name) {
			return Wait{
				Reason: v1beta2.ReasonSwitchingTransport, After: pollSlow,
				Message: fmt.Sprintf("waiting until all other members have connected to %s at %s, which takes up to half a minute: "+
					"if it takes longer, see that no NetworkPolicy or firewall keeps them from it, nor the operator from port %d of any member",
					m.Name, m.PeerURL, member.MetricsPort),
			}
		}
	}
	return nil
}

// serve reports whether every member that etcd lists has a pod that serves others like that, and so would the next one on its volume.
func (v *view) serve(t member.Transport) bool {
	for _, m := range v.Etcd.Members {
		p, ok := v.pods[m.Name]
		if !ok || p.Deleting || p.Transport.Served() != t.Served() || p.Persistent && v.volumes[m.Name].Transport.Served() != t.Served() {
			return false
		}
	}
	return len(v.Etcd.Members) > 0
}
