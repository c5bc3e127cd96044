package reconcile

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// The maximum lengths of an event's action and note, in bytes.
const actionLimit, noteLimit = 128, 1024

// Emit records an event, with the action and the note cut to what Kubernetes accepts. All events are recorded by it.
//
// client-go counts an event that differs from one of the last six minutes in its note alone as that one again, and drops the note: of the same kind,
// reason and action, about the same object in the same version (tools/events/event_broadcaster.go, getKey). So whoever may record several before the
// object's next write, one after the other, gives each an action of its own.
func Emit(to events.EventRecorder, o client.Object, kind, reason, action, note string) {
	to.Eventf(o, nil, kind, reason, failure.Cut(action, actionLimit), "%s", failure.Cut(note, noteLimit))
}

// Warn records a Warning with each of these notes.
func Warn(to events.EventRecorder, o client.Object, reason string, notes []string) {
	for i, note := range notes {
		Emit(to, o, corev1.EventTypeWarning, reason, fmt.Sprintf("Warn %d", i+1), note)
	}
}

// Outcome is what was decided, in words.
type Outcome struct {
	// Action is the name of the action, Reason and Message are those of conditions and events.
	Action, Reason, Message string
	// New is true of one that changes anything, or that differs from the previous one.
	New bool
	// Warning is true if the event is a Warning.
	Warning bool
}

// Record counts an answer in the metrics, and records an event if it is new or could not be carried out.
func Record(ctx context.Context, to events.EventRecorder, o client.Object, a Outcome, err error) {
	metrics.Answered(a.Action, a.Reason)
	if err != nil {
		Emit(to, o, corev1.EventTypeWarning, v1beta2.ReasonActionFailed, a.Action, err.Error())
		return
	}
	if !a.New {
		return
	}
	log.FromContext(ctx).Info(a.Message, "action", a.Action, "reason", a.Reason)
	kind := corev1.EventTypeNormal
	if a.Warning {
		kind = corev1.EventTypeWarning
	}
	Emit(to, o, kind, a.Reason, a.Action, a.Message)
}

// IsProgressing reports whether the Progressing condition already has that reason and message, so that no event need repeat it.
func IsProgressing(conditions []metav1.Condition, reason, message string) bool {
	old := meta.FindStatusCondition(conditions, v1beta2.ConditionProgressing)
	return old != nil && old.Reason == reason && old.Message == message
}
