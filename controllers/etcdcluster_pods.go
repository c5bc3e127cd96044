package controllers

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

func phaseOf(pod *corev1.Pod) plan.Phase {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return plan.Running
	case corev1.PodSucceeded, corev1.PodFailed:
		return plan.Terminal
	default:
		return plan.Pending
	}
}

// hopeless are the waiting reasons of a container that starts only if somebody changes something.
var hopeless = []string{
	"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
	"CreateContainerConfigError", "CreateContainerError", "RunContainerError",
}

// problemOf says why a pod does not run, in Kubernetes' own words, empty if it does or if that is not known yet.
func problemOf(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse &&
			c.Reason == corev1.PodReasonUnschedulable {
			return "cannot be scheduled: " + c.Message
		}
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && slices.Contains(hopeless, w.Reason) {
			return fmt.Sprintf("container %s: %s: %s", s.Name, w.Reason, w.Message)
		}
	}
	if refusal, ok := refusalOf(pod); ok {
		return "member-run: " + refusal.Message
	}
	return ""
}

// exits are the refusals that speak of the data itself. Others, such as a disk that cannot be read or an option that
// etcd does not take, may pass: no member is given up for them.
var exits = map[string]plan.Exit{
	member.DataLost:    plan.ExitDataLost,
	member.ForeignData: plan.ExitForeignData,
}

// refusalOf is the last word of a member-run that did not start etcd, none while the container runs and after an exit
// of etcd itself.
func refusalOf(pod *corev1.Pod) (member.Refusal, bool) {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name != resources.EtcdContainer || s.State.Running != nil {
			continue
		}
		for _, state := range []corev1.ContainerState{s.State, s.LastTerminationState} {
			if state.Terminated != nil {
				return member.ParseRefusal(state.Terminated.Message)
			}
		}
	}
	return member.Refusal{}, false
}

func number(label string) int {
	n, err := strconv.Atoi(label)
	if err != nil {
		return 0
	}
	return n
}

// parseID reads an ID as status and annotations hold it; 0 is no ID.
func parseID(text string) uint64 {
	id, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0
	}
	return id
}

func formatID(id uint64) string { return fmt.Sprintf("%016x", id) }

func permitOf(annotation string) *plan.Permit {
	p, err := member.ParsePermit(annotation)
	if annotation == "" || err != nil {
		return nil
	}
	return &plan.Permit{
		Mode: plan.Mode(p.Mode), ClusterID: uint64(p.ClusterID), MemberID: uint64(p.MemberID),
		InitialCluster: p.InitialCluster, Token: p.Token, PodUID: p.PodUID, Attempt: p.Attempt,
	}
}

func permitFor(p *plan.Permit) *member.Permit {
	if p == nil {
		return nil
	}
	return &member.Permit{
		Mode: member.Mode(p.Mode), ClusterID: member.ID(p.ClusterID), MemberID: member.ID(p.MemberID),
		InitialCluster: p.InitialCluster, Token: p.Token, PodUID: p.PodUID, Attempt: p.Attempt,
	}
}

func bootstrapOf(s *v1beta2.BootstrapStatus) *plan.Bootstrap {
	if s == nil {
		return nil
	}
	b := &plan.Bootstrap{
		Incarnation: int(s.Incarnation), Token: s.Token, Members: s.Members, ClusterID: parseID(s.ClusterID),
	}
	for _, seat := range s.Seats {
		b.Seats = append(b.Seats, plan.Seat{Name: seat.Name, PodUID: seat.PodUID, VolumeUID: seat.VolumeUID})
	}
	return b
}

func bootstrapFor(b plan.Bootstrap) *v1beta2.BootstrapStatus {
	s := &v1beta2.BootstrapStatus{
		Incarnation: int32(b.Incarnation), //nolint:gosec // counts attempts from 1
		Token:       b.Token, Members: b.Members, ClusterID: formatID(b.ClusterID),
	}
	for _, seat := range b.Seats {
		s.Seats = append(s.Seats, v1beta2.BootstrapSeat{
			Name: seat.Name, PodUID: seat.PodUID, VolumeUID: seat.VolumeUID,
		})
	}
	return s
}
