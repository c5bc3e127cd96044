package etcdcluster_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestAutopilotFieldsTouchNoMember edits all that is said about Auto Pilot: no pod is written to, the edit is accepted, and the cluster costs
// nothing again.
func TestAutopilotFieldsTouchNoMember(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "piloted"}
	w.cluster(t, name)
	w.calms(t, name)
	before, accepted := w.podTexts(t), w.accepted(t, name)
	if strings.Contains(accepted, "autopilot") || strings.Contains(accepted, "maintenanceWindow") {
		t.Errorf("accepted is %s", accepted)
	}
	for _, spec := range []v1beta2.EtcdClusterSpec{
		{
			Autopilot: &v1beta2.AutopilotSpec{
				Mode: v1beta2.AutopilotAdvise, NoSpace: &v1beta2.NoSpaceAutopilot{Compaction: v1beta2.CompactionForbidden},
				Defragment: &v1beta2.AutopilotFeature{Mode: v1beta2.AutopilotOn},
			},
			MaintenanceWindow: &v1beta2.MaintenanceWindow{Schedule: "* * * * *", Duration: metav1.Duration{Duration: time.Hour}, TimeZone: "Europe/Berlin"},
		},
		{},
	} {
		w.change(t, name, func(c *v1beta2.EtcdCluster) {
			c.Spec.Autopilot, c.Spec.MaintenanceWindow = spec.Autopilot, spec.MaintenanceWindow
		})
		w.settle(t, name)
		w.calms(t, name)
		if after := w.podTexts(t); after != before {
			t.Errorf("pods were %s, and are %s", before, after)
		}
	}
	if again := w.accepted(t, name); again != accepted {
		t.Errorf("accepted was %s, and is %s", accepted, again)
	}
}

// TestInvalidWindow wants a cluster with a window that says nothing to be kept as it is, and to say which field is wrong.
func TestInvalidWindow(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "misread"}
	w.cluster(t, name)
	w.calms(t, name)
	before := w.podTexts(t)
	w.change(t, name, func(c *v1beta2.EtcdCluster) {
		c.Spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "@daily", Duration: metav1.Duration{Duration: time.Hour}, TimeZone: "Europe/Berln"}
	})
	w.settle(t, name)
	said := w.says(t, name, v1beta2.ConditionDegraded)
	if said.Status != metav1.ConditionTrue || said.Reason != v1beta2.ReasonInvalidWindow || !strings.Contains(said.Message, "spec.maintenanceWindow.timeZone") {
		t.Errorf("Degraded is %+v", said)
	}
	if ready := w.says(t, name, v1beta2.ConditionReady); ready.Status != metav1.ConditionTrue && ready.Reason != v1beta2.ReasonInvalidWindow {
		t.Errorf("Ready is %+v", ready)
	}
	if after := w.podTexts(t); after != before {
		t.Errorf("pods were %s, and are %s", before, after)
	}
}

// TestOperatorModeIsShown has a cluster say that its operator does not let Auto Pilot act.
func TestOperatorModeIsShown(t *testing.T) {
	w := newIdleWorld(t)
	w.operator.Autopilot = v1beta2.AutopilotOff
	name := types.NamespacedName{Namespace: namespace, Name: "bounded"}
	w.cluster(t, name)
	w.calms(t, name)
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	if c.Status.Autopilot == nil || c.Status.Autopilot.OperatorMode != v1beta2.AutopilotOff {
		t.Errorf("status.autopilot is %+v", c.Status.Autopilot)
	}
}

// podTexts are all pods, with everything but what kubelets write.
func (w *idleWorld) podTexts(t *testing.T) string {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, w.api.List(t.Context(), pods))
	var all []string
	for _, p := range pods.Items {
		text, err := json.Marshal([]any{p.UID, p.Labels, p.Annotations, p.Spec})
		must(t, err)
		all = append(all, p.Name+" "+string(text))
	}
	return strings.Join(all, ", ")
}

// accepted is the spec that status has noted.
func (w *idleWorld) accepted(t *testing.T, name types.NamespacedName) string {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	return string(c.Status.AcceptedSpec.Raw)
}
