package etcdcluster

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestTrialOfEveryWrite refuses one write of an update each: none is made, and nothing prepares for the update.
func TestTrialOfEveryWrite(t *testing.T) {
	recreate := plan.Recreate{Name: "c-0", UID: "pod", Version: "3.6.16"}
	image := plan.SetImage{Name: "c-0", UID: "pod", Version: "3.6.99"}
	for title, c := range map[string]struct {
		step           plan.Action
		claims, images bool // whether the mark on the claim, and the change of the pod, is refused; neither: the deletion is
	}{
		"recreate: the mark":     {step: recreate, claims: true},
		"recreate: the deletion": {step: recreate},
		"image: the mark":        {step: image, claims: true},
		"image: the change":      {step: image, images: true},
	} {
		for prepares, action := range map[string]plan.Action{
			"": c.step, ", when it is prepared for": plan.RemoveFromService{Pod: "c-0", UID: "pod"},
		} {
			t.Run(title+prepares, func(t *testing.T) {
				written := 0
				denied := apierrors.NewNotFound(schema.GroupResource{}, "c-0") // a webhook chooses the code
				denied.ErrStatus.Message = `admission webhook "w" denied the request: no`
				write := func(dry []string, refused bool) error {
					if len(dry) == 0 {
						written++
					}
					if refused {
						return denied
					}
					return nil
				}
				r, p := onePass(t, action, interceptor.Funcs{
					Create: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.CreateOption) error {
						o := client.CreateOptions{}
						return write(o.ApplyOptions(options).DryRun, false)
					},
					Patch: func(_ context.Context, _ client.WithWatch, o client.Object, _ client.Patch, options ...client.PatchOption) error {
						_, claim := o.(*corev1.PersistentVolumeClaim)
						given := client.PatchOptions{}
						given.ApplyOptions(options)
						return write(given.DryRun, claim && c.claims || !claim && c.images)
					},
					Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.DeleteOption) error {
						o := client.DeleteOptions{}
						return write(o.ApplyOptions(options).DryRun, true)
					},
				})
				p.assessment.Update = plan.Update{Next: plan.Member{Name: "c-0"}, Step: c.step}
				must(t, r.execute(t.Context(), p))
				all := r.refusals.of(p.key(), 1, noon)
				if written != 0 || len(all) != 1 || all[0].Target != plan.TargetOfUpdate(c.step) {
					t.Errorf("%d writes; refused is %+v", written, all)
				}
			})
		}
	}
}
