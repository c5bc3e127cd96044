package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// quorumLost reports why there is no quorum. Until there is one, the membership must not change and no data that may be needed
// must be deleted.
func quorumLost(v *view) Action {
	if v.Etcd.Contact == ContactQuorum {
		return nil
	}
	known := v.Cluster.Voters
	if b := v.Cluster.Bootstrap; len(known) == 0 && b != nil {
		known = b.Members
	}
	reason, before := v.withoutQuorum()
	if len(v.Etcd.Unconfirmed) > 0 {
		return v.unconfirmedMembers(known, reason, before)
	}
	var silent, lost []string
	for _, name := range known {
		if _, ok := v.answers[name]; ok {
			continue
		}
		if i := slices.IndexFunc(v.foreign, func(c Volume) bool { return c.Name == name }); i >= 0 {
			return Blocked{
				Reason:  v1beta2.ReasonForeignVolume,
				Message: foreignClaim(v.foreign[i]) + "; voter " + name + " needs that name, and there is no quorum without it",
			}
		}
		if v.dataGone(name) {
			lost = append(lost, name)
		} else {
			silent = append(silent, name)
		}
	}
	if len(known) > 0 && len(known)-len(lost) < Quorum(len(known)) {
		return Blocked{
			Reason: v1beta2.ReasonDataLost,
			Message: before + fmt.Sprintf("the data of %s is lost and the %d voters cannot form a quorum: "+
				"create an EtcdRestore, which first saves what is left. A cluster that is deleted and created anew is empty",
				list(lost), len(known)) + v.recoveryAdvice(),
		}
	}
	message := before + v.quorumLostMessage(len(known), silent, lost) + v.recoveryAdvice()
	return Wait{Reason: reason, After: v.poll(), Message: message}
}

// withoutQuorum is the reason of what is reported while there is no quorum, and how that begins: it may be on purpose.
func (v *view) withoutQuorum() (reason, before string) {
	switch {
	case v.Cluster.Resuming != "":
		return v1beta2.ReasonResuming, v.Cluster.Resuming + ": the previous members start again; "
	case v.Cluster.Hibernation == Waking:
		return v1beta2.ReasonWaking, waking + "; "
	}
	return v1beta2.ReasonQuorumLost, ""
}

// unconfirmedMembers reports a pod that claims a quorum which the other voters do not confirm. Either it has taken the place of
// a voter, or the membership was changed by hand so much that no majority of the previous voters is left among the present
// ones.
func (v *view) unconfirmedMembers(known []string, reason, before string) Action {
	return Wait{
		Reason: reason, After: v.poll(),
		Message: before + fmt.Sprintf("%s reports a member list that no majority of the last known voters (%s) confirms: bring the other voters "+
			"back; if voters were removed by hand, delete only their pods and volumes", list(v.Etcd.Unconfirmed), list(known)),
	}
}

// noneStarted says on which volumes no member is started, because nobody says that the quarantined members whose data they hold are members still.
func (v *view) noneStarted() string {
	var names []string
	for _, c := range v.setAside() {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "; no member is started on " + list(names) + ", because the data there differed from the majority's: if the others cannot come back, take " +
		"the annotation etcd.database.coreos.com/quarantined off the claim"
}

func (v *view) quorumLostMessage(known int, silent, lost []string) string {
	if known == 0 {
		return "no quorum: status names no voters yet, and no majority of the members that have data answers: check their pods and logs" + v.noneStarted()
	}
	text := fmt.Sprintf("no quorum: %d of %d voters are needed", Quorum(known), known)
	if len(silent) > 0 {
		text += "; no answer from " + list(silent)
		for _, name := range silent {
			if p := v.pods[name]; p.StartProblem != "" {
				text += fmt.Sprintf(" (pod %s: %s)", name, p.StartProblem)
			}
			if i := slices.IndexFunc(v.Etcd.Handshakes, func(f HandshakeFailure) bool { return f.Pod == name }); i >= 0 {
				text += fmt.Sprintf(" (it runs, but %s and the operator do not accept each other's certificates: %s)", name, v.Etcd.Handshakes[i].Message)
			}
		}
		text += ": bring back their pods and nodes"
	}
	if len(lost) > 0 {
		text += "; the data of " + list(lost) + " is lost"
	}
	if len(silent)+len(lost) == 0 {
		text += "; all of them answer, but no majority confirms one member list: check the members' logs and the network between their pods"
	}
	return text
}

// dataGone reports whether a member's data is lost for good, or never existed.
func (v *view) dataGone(name string) bool {
	p, running := v.pods[name]
	if running && !p.Persistent {
		return p.Phase == Finished || p.Exit.DataGone() || p.Permit == nil
	}
	c, ok := v.volumes[name]
	return !ok || c.MemberID == 0 || c.Lost || c.Deleting && !running || running && p.Exit.DataGone()
}
