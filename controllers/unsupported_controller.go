package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups,verbs=get;list;watch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/status,verbs=update

// UnsupportedReconciler answers EtcdBackups, which this release does not carry out, so that nobody waits for a backup that
// never comes.
type UnsupportedReconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Recorder writes events.
	Recorder events.EventRecorder
}

// SetupWithManager registers the controller.
func (r *UnsupportedReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("etcdbackup").For(&v1beta2.EtcdBackup{}).
		Complete(reconcile.AsReconciler(r.Client, refuser[*v1beta2.EtcdBackup]{r, backupAnswer}))
}

// answer points to the fields of a status that say no.
type answer struct {
	kind       string
	conditions *[]metav1.Condition
	// reason is the field that clients of coreos/etcd-operator read.
	reason     *string
	generation *int64
}

func backupAnswer(b *v1beta2.EtcdBackup) answer {
	s := &b.Status
	return answer{"EtcdBackup", &s.Conditions, &s.Reason, &s.ObservedGeneration}
}

type refuser[T client.Object] struct {
	*UnsupportedReconciler
	answer func(T) answer
}

// Reconcile writes the answer once for each generation of the object.
func (r refuser[T]) Reconcile(ctx context.Context, object T) (ctrl.Result, error) {
	if !object.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, nil
	}
	a := r.answer(object)
	message := fmt.Sprintf("this release does not carry out %s objects: nothing is done for it", a.kind)
	changed := meta.SetStatusCondition(a.conditions, metav1.Condition{
		Type: v1beta2.ConditionAccepted, Status: metav1.ConditionFalse, ObservedGeneration: object.GetGeneration(),
		Reason: v1beta2.ReasonNotSupportedYet, Message: message,
	})
	if !changed && *a.reason == message {
		return ctrl.Result{}, nil
	}
	*a.reason, *a.generation = message, object.GetGeneration()
	if err := r.Client.Status().Update(ctx, object); err != nil {
		return ctrl.Result{}, fmt.Errorf("write status: %w", err)
	}
	r.Recorder.Eventf(object, nil, corev1.EventTypeWarning, v1beta2.ReasonNotSupportedYet, "Refuse", "%s", message)
	return ctrl.Result{}, nil
}
