package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// waitForCompletion names what is still under way.
func waitForCompletion(v *view) Action { return v.InProgress }

// inProgress is the first thing that is.
func (v *view) inProgress() Action {
	for _, m := range v.learners {
		if p := v.pods[m.Name]; p.StartProblem == "" {
			return Wait{
				Reason: v1beta2.ReasonWaitingForLearner, After: v.poll(),
				Message: fmt.Sprintf("waiting until learner %s has caught up with the leader", m.Name),
			}
		}
	}
	var names []string
	for _, p := range v.Pods {
		names = append(names, p.Name)
	}
	for _, m := range v.Etcd.Members {
		if _, ok := v.pods[m.Name]; !ok {
			names = append(names, m.Name)
		}
	}
	if a := v.waitForPods(names); a != nil {
		return a
	}
	for _, m := range v.voters {
		if !v.healthy(m) {
			return Wait{
				Reason: v1beta2.ReasonMemberDown, After: v.poll(),
				Message: fmt.Sprintf("%s does not answer", m.Name),
			}
		}
	}
	return v.waitForInPlaceChange()
}

// waitForInPlaceChange waits for what Kubernetes does to a running member.
func (v *view) waitForInPlaceChange() Action {
	for _, m := range v.Etcd.Members {
		if p := v.pods[m.Name]; p.Resizing != "" {
			return Wait{
				Reason: v1beta2.ReasonWaitingForResize, After: pollSlow,
				Message: fmt.Sprintf("pod %s is being resized: %s", m.Name, p.Resizing),
			}
		}
		if v.volumes[m.Name].Expanding {
			return Wait{
				Reason: v1beta2.ReasonWaitingForVolume, After: pollSlow,
				Message: fmt.Sprintf("waiting until volume %s has grown", m.Name),
			}
		}
	}
	return nil
}

// summary is the message of the steady state.
func (v *view) summary() string {
	text := fmt.Sprintf("%d of %d members are healthy", v.healthyVoters(""), v.Cluster.Size)
	var kept []string
	for _, c := range v.keptVolumes {
		kept = append(kept, c.Name)
	}
	if len(kept) > 0 {
		text += "; " + keptMessage(kept, v.Cluster.Unsaved)
	}
	return text
}

// deleteReplaced deletes what is left of what a restore has replaced, once the restored cluster is as the spec asks: volumes that
// were never used, and all others only if the user said that nothing of it needs to be saved.
func deleteReplaced(v *view) Action {
	for _, p := range v.previousPods {
		if !p.Deleting {
			return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonRestored}
		}
	}
	for _, c := range v.previousVolumes {
		if !c.Deleting {
			return DeleteVolume{Name: c.Name, UID: c.UID, Why: v1beta2.ReasonRestored}
		}
	}
	return nil
}

// allowEviction lets others evict again as soon as the operator is done.
func allowEviction(v *view) Action {
	if n := MinAvailable(len(v.voters)); v.Budget.MinAvailable != n {
		return SetBudget{MinAvailable: n}
	}
	return nil
}

// reportRejectedSpec ends the list while something of the spec is not carried out.
func reportRejectedSpec(v *view) Action {
	if v.Refusal != nil {
		return Blocked(*v.Refusal)
	}
	return nil
}
