package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// waitForCompletion reports what is still in progress.
func waitForCompletion(v *view) Action {
	if v.InProgress != nil {
		return v.InProgress
	}
	return v.waitForExpansion()
}

// inProgress returns what to wait for first. A volume that grows is not among it: that may never end, a claim's size cannot go
// back, and it keeps no member from being restarted. The voter with the ID but need not be healthy; 0 if all have to be.
func (v *view) inProgress(but uint64) Action {
	if v.Defragmented.ID != 0 {
		return v.awaitDefragmented()
	}
	for _, m := range v.learners {
		if v.tried(m) && v.healthy(m) {
			return Wait{Reason: v1beta2.ReasonPatchOnTrial, After: v.poll(), Message: v.trialMessage()}
		}
		if v.disputed() && v.healthy(m) {
			return Wait{
				Reason: v1beta2.ReasonWaitingForLearner, After: v.poll(),
				Message: fmt.Sprintf("learner %s does not vote, because %s", m.Name, v.whyKept()),
			}
		}
		if p := v.pods[m.Name]; p.StartProblem == "" {
			return Wait{
				Reason: v1beta2.ReasonWaitingForLearner, After: v.poll(),
				Message: fmt.Sprintf("waiting for learner %s to start and catch up with the leader", m.Name),
			}
		}
	}
	var names []string
	for _, p := range v.Pods {
		if !v.strandedPod(p) && !v.halted(v.members[p.Name]) {
			names = append(names, p.Name)
		}
	}
	for _, m := range v.Etcd.Members {
		if _, ok := v.pods[m.Name]; !ok {
			names = append(names, m.Name)
		}
	}
	if a := v.waitForPods(names); a != nil {
		return v.besidesDispute(a)
	}
	for _, m := range v.voters {
		if m.ID != but && !v.healthy(m) {
			return v.besidesDispute(Wait{
				Reason: v1beta2.ReasonMemberDown, After: v.poll(),
				Message: fmt.Sprintf("member %s is not healthy: kubectl describe pod %s, kubectl logs %s -c etcd", m.Name, m.Name, m.Name),
			})
		}
	}
	return v.waitForResize()
}

// waitForResize waits until the kubelets have resized all pods, unless that is given up, or a pod waits for more than anybody asks for by now and is to
// be made anew: that may never come.
func (v *view) waitForResize() Action {
	for _, m := range v.Etcd.Members {
		p := v.pods[m.Name]
		if p.Resizing != "" && v.Cluster.Tuned.Resized.GivenUp == "" && !(p.Drift.Template && p.Requests.Exceeds(v.Cluster.Requests())) {
			return Wait{
				Reason: v1beta2.ReasonWaitingForResize, After: pollSlow,
				Message: fmt.Sprintf("pod %s is being resized: %s", m.Name, p.Resizing),
			}
		}
	}
	return nil
}

func (v *view) waitForExpansion() Action {
	for _, m := range v.Etcd.Members {
		if v.volumes[m.Name].Expanding {
			return Wait{
				Reason: v1beta2.ReasonWaitingForVolume, After: pollSlow,
				Message: fmt.Sprintf("waiting until volume %s is expanded", m.Name),
			}
		}
	}
	return nil
}

// summary is the message while nothing has to be done.
func (v *view) summary() string {
	text := fmt.Sprintf("%d of %d members are healthy", v.healthyVoters(""), v.Cluster.Size)
	var kept, stranded []string
	for _, p := range v.Pods {
		if v.strandedPod(p) {
			stranded = append(stranded, p.Name)
		}
	}
	if len(stranded) > 0 {
		text += "; what is left of pods " + list(stranded) + " goes once their nodes report again, or are deleted"
	}
	for _, c := range v.keptVolumes {
		kept = append(kept, c.Name)
	}
	if len(kept) > 0 {
		text += "; " + keptMessage(kept, v.Cluster.Unsaved)
	}
	return text
}

// deleteReplacedByRestore deletes what a restore has replaced once the restored cluster matches the spec: volumes that were never used,
// and all others only if the user chose to do without a safety snapshot. Nothing goes while it is not known whose data is right.
func deleteReplacedByRestore(v *view) Action {
	if v.keepsAll() {
		return nil
	}
	return v.deleteNext(v.previousPods, v.previousVolumes, v1beta2.ReasonRestored)
}

// allowEviction lets one voter be evicted again as soon as the operator disrupts none.
func allowEviction(v *view) Action {
	if n := v.minAvailable(); v.Budget.MinAvailable != n {
		return SetBudget{MinAvailable: n}
	}
	return nil
}

// reportRejectedSpec comes last while part of the spec cannot be carried out.
func reportRejectedSpec(v *view) Action {
	if v.RejectedSpec != nil {
		return Blocked(*v.RejectedSpec)
	}
	return nil
}
