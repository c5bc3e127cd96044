package plan

import "github.com/etcdpilot/etcd-operator/internal/member"

// switchClients commits the next step of a switch of clients between plain text and TLS. Whoever is told to connect by a scheme is able to,
// because it is served by then, and none is taken away while anybody is still told of it:
//
//   - Members serve both schemes. If that takes certificates, they are there before.
//   - Clients are told to use the new one. The operator itself does from then on: so the last step takes a quorum that it reaches that way.
//   - Members serve the new one only.
//
// Between the steps, the members are updated like after an edit of the spec. It may turn back at any step.
func switchClients(v *view) Action {
	next, due := v.nextTransport()
	if !due {
		return nil
	}
	if waiting := v.waitForVoters(); waiting != nil {
		return waiting
	}
	if v.InProgress != nil {
		return v.InProgress
	}
	return CommitTransport{next}
}

// nextTransport is the next step, if one is due.
func (v *view) nextTransport() (next member.Transport, due bool) {
	has, asked := v.Cluster.Transport, v.Cluster.SpecTransport
	next = has
	switch {
	case v.Cluster.Invalid != nil || !v.serve(has):
		return has, false
	case !has.ClientBoth && has.ClientTLS != asked.ClientTLS, !has.ClientBoth && has.ClientTLS && v.Cluster.PlainClients:
		next.ClientBoth = true
		return next, has.ClientTLS || v.Cluster.Certified
	case !has.ClientBoth:
		return has, false
	case has.ClientTLS != asked.ClientTLS:
		next.ClientTLS = asked.ClientTLS
	default:
		next.ClientBoth = asked.ClientTLS && v.Cluster.PlainClients
	}
	return next, next != has
}

// serve reports whether every member that etcd lists has a pod that serves clients like that.
func (v *view) serve(t member.Transport) bool {
	for _, m := range v.Etcd.Members {
		p, ok := v.pods[m.Name]
		if !ok || p.Deleting || p.Transport.Served() != t.Served() {
			return false
		}
	}
	return len(v.Etcd.Members) > 0
}
