package etcdcluster

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// podOf reads the relevant fields of a pod.
func podOf(pod *corev1.Pod) plan.Pod {
	seen := plan.Pod{
		Name: pod.Name, UID: string(pod.UID), IP: pod.Status.PodIP, Node: pod.Spec.NodeName,
		Incarnation:     number(pod.Labels[resources.LabelIncarnation]),
		Zone:            pod.Labels[corev1.LabelTopologyZone],
		Phase:           phaseOf(pod),
		Created:         pod.CreationTimestamp.Time,
		StartProblem:    problemOf(pod),
		ProblemAnywhere: problemAnywhere(pod),
		WaitsFor:        waitsFor(pod),
		Persistent:      resources.PodPersistent(pod),
		Version:         version.OfImage(resources.ImageOf(pod)),
		Image:           imageByDigest(pod),
		Quota:           resources.PodQuota(pod),
		Restarts:        int(containerOf(pod).RestartCount),
		Replaced:        replaced(pod),
		Transport:       resources.PodTransport(pod),
		LeftService:     timeOf(pod.Annotations[resources.AnnotationUnserved]),
		Permit:          permitOf(pod.Annotations[member.PermitAnnotation]),
		RemindedAt:      timeOf(pod.Annotations[resources.AnnotationReminded]),
		Restarting:      restarting(pod),
		InService:       pod.Labels[resources.LabelServing] == "true",
		Restores:        pod.Annotations[resources.AnnotationRestore] != "",
		Legacy:          resources.LegacyPod(pod),
		StorageLimit:    storageLimit(pod),
		Avoids:          resources.Avoids(pod),
		Requests:        resources.PodRequests(pod), ResizeRestarts: resources.ResizeRestarts(pod),
		Unseen: pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation,
	}
	if seen.PermittedAt = timeOf(pod.Annotations[resources.AnnotationPermitted]); seen.Permit != nil && seen.PermittedAt.IsZero() {
		seen.PermittedAt = seen.Created // it was created with the permit
	}
	seen.RestoreFailure = restores.Failure(pod)
	seen.Exit, seen.RefusedAttempt = exitOf(pod)
	if pod.DeletionTimestamp != nil {
		seen.Deleting, seen.Deadline = true, pod.DeletionTimestamp.Time
	}
	readConditions(pod, &seen)
	return seen
}

// readConditions reads what the conditions say of the pod's start, of whether it is ready, and of a resize.
func readConditions(pod *corev1.Pod, seen *plan.Pod) {
	for _, c := range pod.Status.Conditions {
		switch c.Type {
		case corev1.ContainersReady:
			seen.SidecarNotReady = c.Status == corev1.ConditionFalse && containerOf(pod).Ready
		case corev1.PodReady:
			seen.Ready, seen.ReadyChanged = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
			seen.NotReadyByKubelet = !seen.Ready && c.Reason != "" // the node controller changes only the status (MarkPodsNotReady)
		case corev1.PodInitialized, corev1.PodReadyToStartContainers:
			if c.LastTransitionTime.After(seen.Prepared) {
				seen.Prepared = c.LastTransitionTime.Time
			}
		case corev1.PodResizePending, corev1.PodResizeInProgress:
			seen.Resizing, seen.ResizingSince = fmt.Sprintf("%s: %s", c.Reason, c.Message), c.LastTransitionTime.Time
			late := c.ObservedGeneration != 0 && c.ObservedGeneration < pod.Generation // it is about what was asked for before
			seen.ResizeInfeasible = seen.ResizeInfeasible || c.Reason == corev1.PodReasonInfeasible && !late
		default:
		}
	}
}

// storageLimit is how much of its node's disk a pod may use: the kubelet compares the sum of what its containers are limited to with what is on
// its emptyDirs and in its logs.
func storageLimit(pod *corev1.Pod) (bytes int64) {
	for _, c := range pod.Spec.Containers {
		bytes += c.Resources.Limits.StorageEphemeral().Value()
	}
	return bytes
}

// containerOf is the status of the etcd container, empty before there is one.
func containerOf(pod *corev1.Pod) corev1.ContainerStatus {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == resources.EtcdContainer {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// imageByDigest is etcd's image in the pod by its digest: the one that it asks for, or else the one that the runtime says it is, if that is from
// the same repository, and there is no other name for it that the next node may not know. It is empty if neither is known.
func imageByDigest(pod *corev1.Pod) string {
	asked := resources.ImageOf(pod)
	name, _, byDigest := strings.Cut(asked, "@")
	if byDigest {
		return asked
	}
	repository, digest, _ := strings.Cut(containerOf(pod).ImageID, "@")
	if repository != version.Repository(name) || restarting(pod) {
		return ""
	}
	return version.ByDigest(repository, version.OfImage(name), digest)
}

// restarting reports whether the container that a change of the image is to replace still exists. If the image was changed back
// meanwhile there is nothing to replace. This is how the kubelet decides it: by what is in the spec, not by what the runtime calls the
// image, which may be any of its names.
func restarting(pod *corev1.Pod) bool {
	return isReplaced(pod, containerOf(pod).ContainerID)
}

// replaced reports whether the container that ended last is the one that a change of the image was to replace.
func replaced(pod *corev1.Pod) bool {
	last := containerOf(pod).LastTerminationState.Terminated
	return last != nil && isReplaced(pod, last.ContainerID)
}

// isReplaced reports whether a change of the image, which was not changed back, is to replace the container with that ID.
func isReplaced(pod *corev1.Pod, id string) bool {
	return id != "" && pod.Annotations[resources.AnnotationReplaced] == id &&
		pod.Annotations[resources.AnnotationReplacedImage] != resources.EtcdOf(pod).Image
}

// phaseOf is the pod's phase. If etcd was permitted to start and has run, then so does the pod, also while Kubernetes calls it pending, because another
// container was never started: a member that may vote is asked. One that is yet to join waits for all of its pod.
func phaseOf(pod *corev1.Pod) plan.Phase {
	switch {
	case pod.Status.Phase == corev1.PodRunning:
		return plan.Running
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return plan.Finished
	case etcdStays(pod) && pod.Annotations[member.PermitAnnotation] != "":
		return plan.Running
	default:
		return plan.Pending
	}
}

// etcdStays reports whether etcd's container runs, or has, and the node only has to start it again.
func etcdStays(pod *corev1.Pod) bool {
	etcd := containerOf(pod)
	return etcd.State.Running != nil || hasRun(etcd) && !startsAnew(pod)
}

// startsAnew reports whether the node makes all of the pod again, as after a reboot: etcd has run, and cannot before that is done.
func startsAnew(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Waiting != nil }) ||
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReadyToStartContainers && c.Status == corev1.ConditionFalse
		})
}

func hasRun(s corev1.ContainerStatus) bool {
	return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
}

// blocking are the waiting reasons of a container that cannot start before something else changes.
var blocking = slices.Concat(missingImage, []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})

// blockingAnywhere are those of them that most likely do not depend on the node: the kubelet gives CreateContainerConfigError where a Secret or ConfigMap
// is missing.
var blockingAnywhere = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"}

// missingImage are those of them that mean that the image is not on the node, and does not get there.
var missingImage = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}

// problemAnywhere reports whether what keeps a container of the pod from running would keep that of a new pod from it, too.
func problemAnywhere(pod *corev1.Pod) bool {
	waiting, _ := blocked(pod)
	return waiting != nil && slices.Contains(blockingAnywhere, waiting.Reason)
}

// blocked is why the first container that cannot start does not, and its name; nil if there is none.
func blocked(pod *corev1.Pod) (*corev1.ContainerStateWaiting, string) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && slices.Contains(blocking, w.Reason) {
			return w, s.Name
		}
	}
	return nil, ""
}

// unpulled reports whether etcd's image is what keeps a container from running.
func unpulled(pod *corev1.Pod) bool {
	w := containerOf(pod).State.Waiting
	return w != nil && slices.Contains(missingImage, w.Reason)
}

// problemOf is why a pod does not run, in Kubernetes' own words; empty if it runs or if that is not known yet.
func problemOf(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse &&
			c.Reason == corev1.PodReasonUnschedulable {
			return "cannot be scheduled: " + c.Message
		}
	}
	if w, name := blocked(pod); w != nil {
		return fmt.Sprintf("container %s: %s: %s", name, w.Reason, w.Message)
	}
	for _, s := range pod.Status.InitContainerStatuses {
		if result, ok := resources.InitResult(s); ok && result.Failure != nil {
			return "the snapshot cannot be restored: " + result.Failure.Message
		}
	}
	if refusal, ok := refusalOf(pod); ok {
		return "member-run refused to start etcd: " + refusal.Message
	}
	if words := lastWords(pod); words != "" {
		return "etcd is crash-looping: " + words
	}
	return ""
}

// waitsFor is what a pending pod waits for before any of its containers starts, empty if that is not known. An image that is being
// pulled is not told apart from a container that is about to start.
func waitsFor(pod *corev1.Pod) string {
	if pod.Status.Phase != corev1.PodPending {
		return ""
	}
	seen := false // by a scheduler
	for _, c := range pod.Status.Conditions {
		seen = seen || c.Type == corev1.PodScheduled
		if c.Type == corev1.PodReadyToStartContainers && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("node %s has not prepared it: a volume is not attached or mounted, or the pod network is not set up "+
				"(kubectl describe pod %s)", pod.Spec.NodeName, pod.Name)
		}
	}
	switch {
	case pod.Spec.NodeName == "" && !seen:
		return "no scheduler has looked at it: check that kube-scheduler runs"
	case pod.Spec.NodeName != "" && pod.Status.StartTime == nil:
		return fmt.Sprintf("the kubelet of node %s has not accepted it: check the node", pod.Spec.NodeName)
	}
	return ""
}
