package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Operators are the pods of the operator that is installed in a namespace.
func (e *Env) Operators(ctx context.Context, namespace string) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := e.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{"control-plane": "controller-manager"})
	return pods.Items, err
}

// ActingOperator is the name of the pod that holds the Lease of the operator in a namespace, empty if none does.
func (e *Env) ActingOperator(ctx context.Context, namespace string) (string, error) {
	lease, err := e.Kube.CoordinationV1().Leases(namespace).Get(ctx, "etcd-operator.etcd.database.coreos.com", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return pod, nil
}

// OperatorLogs are what the operators in a namespace have said. A log that cannot be read yet is an error beside those that can.
func (e *Env) OperatorLogs(ctx context.Context, namespace string) (said string, err error) {
	pods, err := e.Operators(ctx, namespace)
	for _, p := range pods {
		log, failed := e.Kube.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		said, err = said+string(log), errors.Join(err, failed)
	}
	return said, err
}

// NothingForbidden is an error if the operators in a namespace were refused anything that they asked Kubernetes for, or have not started.
func (e *Env) NothingForbidden(ctx context.Context, namespace string) error {
	said, err := e.OperatorLogs(ctx, namespace)
	if err != nil {
		return err
	}
	if !strings.Contains(said, "starting") {
		return fmt.Errorf("the operator has no log: %q", said)
	}
	refused := slices.DeleteFunc(slices.Collect(strings.Lines(said)), func(line string) bool {
		return !strings.Contains(strings.ToLower(line), "forbidden")
	})
	if len(refused) > 0 {
		return fmt.Errorf("the operator lacks rights:\n%s", strings.Join(refused, ""))
	}
	return nil
}

// OperatorFailure is what a reader of a failure needs of the operator in a namespace: warnings there, and the end of its log.
func (e *Env) OperatorFailure(ctx context.Context, namespace string) string {
	const most = 60
	said, err := e.OperatorLogs(ctx, namespace)
	if err != nil {
		said += "\n" + err.Error()
	}
	lines := strings.Split(said, "\n")
	text := ""
	events, err := e.Kube.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error() + "\n" + said
	}
	for _, event := range events.Items {
		if event.Type == corev1.EventTypeWarning {
			text += fmt.Sprintf("event %s/%s %s: %s\n", event.Regarding.Kind, event.Regarding.Name, event.Reason, event.Note)
		}
	}
	return text + "operator:\n" + strings.Join(lines[max(0, len(lines)-most):], "\n")
}
