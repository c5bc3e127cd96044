package agentpod

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestCreate wants an attempt to have failed only where there can be no such pod.
func TestCreate(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	owner := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", UID: "1"}}
	pod := func() *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "n", Name: "b-1", Labels: agentLabels(resources.LabelBackup, owner),
			OwnerReferences: []metav1.OwnerReference{Base(owner, task.KindBackup, resources.LabelBackup).Owner},
		}}
	}
	foreign, unlabeled := pod(), pod()
	foreign.OwnerReferences, unlabeled.Labels = nil, nil
	denied := apierrors.NewBadRequest(`admission webhook "w" denied the request: no`)
	denied.ErrStatus.Code, denied.ErrStatus.Reason = http.StatusConflict, metav1.StatusReasonConflict
	ending := apierrors.NewForbidden(pods, "b-1", errors.New("it is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for title, c := range map[string]struct {
		there   *corev1.Pod
		answer  error
		problem string
		is      func(error) bool
	}{
		"created":              {},
		"made by another pass": {there: pod(), is: reconcile.Stale},
		"the name is taken":    {there: foreign, problem: "belongs to no controller"},
		"the labels are lost":  {there: unlabeled, problem: "has lost the labels"},
		"denied":               {answer: denied, problem: "denied the request"},
		"the namespace goes":   {answer: ending, is: reconcile.Terminating},
		"something else":       {answer: errors.New("no"), is: func(err error) bool { return !reconcile.Stale(err) }},
	} {
		t.Run(title, func(t *testing.T) {
			build := fake.NewClientBuilder().WithScheme(testenv.Scheme(t))
			if c.there != nil {
				build.WithObjects(c.there)
			}
			api := build.WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, api client.WithWatch, o client.Object, options ...client.CreateOption) error {
					if c.answer != nil {
						return c.answer
					}
					return api.Create(ctx, o, options...)
				},
			}).Build()
			problem, err := Create(t.Context(), api, api, owner, pod())
			if c.is == nil && err != nil || c.is != nil && (err == nil || !c.is(err)) {
				t.Errorf("the error is %v", err)
			}
			if (problem != nil) != (c.problem != "") || problem != nil && !strings.Contains(problem.Message, c.problem) {
				t.Errorf("the problem is %+v", problem)
			}
		})
	}
}
