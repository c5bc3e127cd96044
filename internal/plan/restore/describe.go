package restore

import (
	"fmt"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Description is an action in words: its name, and the reason and message of conditions and events.
type Description struct{ Action, Reason, Message string }

// Describe puts an action into words.
func Describe(a Action) Description {
	switch a := a.(type) {
	case Idle:
		return Description{"Idle", a.Reason, a.Message}
	case Wait:
		return Description{"Wait", a.Reason, a.Message}
	case Blocked:
		return Description{"Blocked", a.Reason, a.Message}
	case Fail:
		return Description{"Fail", a.Reason, a.Message}
	case Retry:
		return Description{"Retry", a.Failure.Reason, a.Failure.Message}
	case Replace:
		return describeReplace(a)
	case Succeed:
		return describeSuccess(a)
	default:
		return describeStep(a)
	}
}

// describeSuccess says what an event of long ago may have said first: that etcd found fault with the data, and what is kept.
func describeSuccess(a Succeed) Description {
	message := "the cluster runs on the restored data" + whose(a.Of)
	if a.Alarms != "" {
		message += "; the snapshot was taken while etcd had the alarms " + a.Alarms + ", which are cleared"
	}
	if strings.Contains(a.Alarms, "CORRUPT") {
		message += ": the data may be wrong, compare it with what its applications expect"
	}
	if len(a.Kept) > 0 {
		message += "; volumes with replaced data are kept: delete them once their data is no longer needed: kubectl delete pvc " +
			strings.Join(a.Kept, " ")
	}
	if len(a.Kept) > 0 && a.Unsaved {
		message += plan.CompareFirst()
	}
	return Description{"Succeed", v1beta2.ReasonRestored, message}
}

func describeReplace(a Replace) Description {
	message := "the cluster's data is being replaced by the snapshot" + whose(a.Of)
	if a.Unsaved != "" {
		message += "; what it held is not saved: " + a.Unsaved
	}
	return Description{"Replace", v1beta2.ReasonRestoring, message}
}

// whose says that it is another cluster's.
func whose(of string) string {
	if of == "" {
		return ""
	}
	return " of " + of
}

// describeStep is for the steps within a phase.
func describeStep(a Action) Description {
	const working = v1beta2.ReasonWaitingForPods
	switch a := a.(type) {
	case Enter:
		if a.Phase == v1beta2.RestoreSaving {
			return Description{"Enter", v1beta2.ReasonSaving, "the snapshot" + whose(a.Of) + " is good; what the cluster holds is looked for"}
		}
		return Description{"Enter", v1beta2.ReasonVerifying, "the snapshot is looked for"}
	case Start:
		return Description{"Start", working, fmt.Sprintf("try %d begins", a.Run.Attempt)}
	case CreatePod:
		return Description{"CreatePod", working, "a pod is created to do the work"}
	case ResetTimer:
		return Description{"ResetTimer", working, "the clock was set back: the try counts from now"}
	case DeletePod:
		return Description{"DeletePod", working, fmt.Sprintf("pod %s, whose work is over, is deleted", a.Name)}
	case Finish:
		return Description{"Finish", v1beta2.ReasonCompleted, "the pod has done its work"}
	case AddFinalizer:
		return Description{"AddFinalizer", v1beta2.ReasonRestoring, "the EtcdRestore stays until it is over"}
	case Pin:
		return Description{"Pin", v1beta2.ReasonVerifying, "the EtcdCluster is noted: another one of that name is left alone"}
	case SaveAgain:
		return Description{"SaveAgain", v1beta2.ReasonSaving, "the cluster came to hold something else, or may have done so since; it is looked at again"}
	case RemoveFinalizer:
		return Description{"RemoveFinalizer", v1beta2.ReasonCompleted, "the EtcdRestore may be deleted"}
	default:
		return Description{fmt.Sprintf("%T", a), v1beta2.ReasonActionFailed, "this action is not known"}
	}
}
