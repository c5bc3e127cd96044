package agentpod

import (
	"errors"
	"net/http"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestTrimAgentPod checks that what is said of an agent's pod is known of the trimmed one.
func TestTrimAgentPod(t *testing.T) {
	pod, err := resources.AgentPod{
		Namespace: "n", Name: "b-1", Labels: map[string]string{resources.LabelBackup: "b"}, Image: "operator",
	}.Pod()
	if err != nil {
		t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "the node was low on memory"}
	whole, _ := agentOf(pod)
	small := controllertest.Trimmed(t, pod)
	if got, _ := agentOf(small); !reflect.DeepEqual(got, whole) || got.Problem == "" {
		t.Errorf("trimmed: %+v\nwhole: %+v", got, whole)
	}
	if len(small.Spec.Containers) > 0 {
		t.Errorf("left: %+v", small.Spec)
	}
}

// TestRefusal wants a pod that the API server refuses to say so, in whichever way a webhook does, and one that is only not created yet not to.
func TestRefusal(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	denied := apierrors.NewBadRequest(`admission webhook "w" denied the request: no`)
	denied.ErrStatus.Code, denied.ErrStatus.Reason = http.StatusConflict, metav1.StatusReasonConflict
	for title, c := range map[string]struct {
		err  error
		want bool
	}{
		"none":                        {},
		"a quota":                     {apierrors.NewForbidden(pods, "b-1", errors.New("exceeded quota")), true},
		"a webhook's own conflict":    {denied, true},
		"a webhook that is not there": {apierrors.NewInternalError(errors.New(`failed calling webhook "w": no route to host`)), false},
		"too large":                   {apierrors.NewRequestEntityTooLargeError("no"), true},
		"a conflict":                  {apierrors.NewConflict(pods, "b-1", nil), false},
		"an error of the API server":  {apierrors.NewInternalError(errors.New("etcdserver: no leader")), false},
	} {
		if problem := refusal(c.err); (problem != nil) != c.want {
			t.Errorf("%s: the problem is %+v", title, problem)
		}
	}
}
