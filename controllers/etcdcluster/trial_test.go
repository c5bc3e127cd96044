package etcdcluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func forbidden(why string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "c-0", errors.New(why))
}

func unreached() error {
	return apierrors.NewInternalError(errors.New(`failed calling webhook "w": failed to call webhook: connection refused`))
}

// onePass is a pass over a cluster with one pod and its volume, as the API server has them.
func onePass(t *testing.T, action plan.Action, funcs interceptor.Funcs) (*Reconciler, *pass) {
	t.Helper()
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "c", Generation: 1}}
	c.Spec.Size = 1
	c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(noon), OperatorImage: "operator:test", Etcd: etcd.NewPool()}
	pod, err := resources.Pod(c, "c-0", 1, nil, r.optionsFor(&pass{cluster: c}, plan.NewPod{Name: "c-0", Version: "3.6.16", Persistent: true}))
	must(t, err)
	claim := resources.Volume(c, "c-0", 1)
	pod.UID, claim.UID = "pod", "claim"
	api := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).WithObjects(c, pod, claim).WithInterceptorFuncs(funcs).Build()
	r.Client, r.Live = api, api
	p := &pass{cluster: c, action: action, pods: map[string]*corev1.Pod{}, claims: map[string]*corev1.PersistentVolumeClaim{}}
	for _, o := range []client.Object{pod, claim} {
		must(t, api.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	}
	p.pods["c-0"], p.claims["c-0"] = pod, claim
	p.revision, err = resources.RevisionOf(c, r.podOptions(p))
	must(t, err)
	p.observed = plan.Observed{
		Now: noon, Pods: []plan.Pod{{Name: "c-0", UID: "pod", Persistent: true}}, Volumes: []plan.Volume{{Name: "c-0", UID: "claim"}},
	}
	return r, p
}

// asks changes what the spec asks for the etcd container.
func (p *pass) asks(amount string) {
	p.cluster.Spec.Pod.Resources = cpus(amount)
}

func cpus(amount string) corev1.ResourceRequirements {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	return corev1.ResourceRequirements{Requests: list, Limits: list}
}

// TestTrialOfRecreate has the API server answer the dry run of a pod that is to be recreated: unless it would be accepted, the present
// pod stays, and its volume is not marked.
func TestTrialOfRecreate(t *testing.T) {
	quota := forbidden("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1")
	for title, c := range map[string]struct {
		answer error
		asks   string
		goes   bool
		words  string
	}{
		"accepted":                                {nil, "", true, ""},
		"a webhook that declares side effects":    {apierrors.NewBadRequest(`admission webhook "w" does not support dry run`), "", true, ""},
		"a pod has the name":                      {apierrors.NewAlreadyExists(schema.GroupResource{}, "c-0-try"), "", true, ""},
		"the quota, for as much as there is":      {quota, "200m", true, ""},
		"the quota, for less than there is":       {quota, "100m", true, ""},
		"the quota, for more than there is":       {quota, "300m", false, "exceeded quota"},
		"a quota that cannot be told yet":         {forbidden("status unknown for quota: q"), "200m", false, "status unknown"},
		"a policy":                                {forbidden("policy"), "", false, "policy"},
		"a webhook, with 400":                     {apierrors.NewBadRequest(`admission webhook "w" denied the request: no`), "", false, `"w" denied`},
		"a webhook that is not reached, with 500": {unreached(), "", false, "failed calling webhook"},
	} {
		t.Run(title, func(t *testing.T) {
			action := plan.Recreate{Name: "c-0", UID: "pod", Version: "3.6.16"}
			r, p := onePass(t, action, interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return c.answer },
			})
			p.pods["c-0"].Spec.Containers[0].Resources = cpus("200m")
			p.pods["c-0"].Spec.InitContainers[0].Resources = cpus("200m")
			if c.asks != "" {
				p.asks(c.asks)
			}
			must(t, r.execute(t.Context(), p))
			err := r.Live.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-0"}, &corev1.Pod{})
			if gone := apierrors.IsNotFound(err); gone != c.goes || p.outcome.incomplete() == c.goes {
				t.Errorf("it is gone: %v (%v); incomplete %v", gone, err, p.outcome.incomplete())
			}
			claim := &corev1.PersistentVolumeClaim{}
			must(t, r.Live.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-0"}, claim))
			if marked := claim.Annotations[resources.AnnotationVersion] != ""; marked != c.goes {
				t.Errorf("its volume is marked: %v", marked)
			}
			all := r.refusals.of(p.key(), 1, noon)
			if c.goes != (len(all) == 0) || !c.goes && (all[0].Verb != "recreate" || !strings.Contains(all[0].Message, c.words)) {
				t.Errorf("refused is %+v", all)
			}
		})
	}
}

// TestTrialOfImage refuses a pod with another image, when it is to be changed and already when that is prepared for.
func TestTrialOfImage(t *testing.T) {
	set := plan.SetImage{Name: "c-0", UID: "pod", Version: "3.6.99"}
	for title, action := range map[string]plan.Action{
		"changed": set, "prepared for": plan.RemoveFromService{Pod: "c-0", UID: "pod"}, "budget": plan.SetBudget{MinAvailable: 3},
	} {
		t.Run(title, func(t *testing.T) {
			tried := 0
			r, p := onePass(t, action, interceptor.Funcs{
				Patch: func(_ context.Context, _ client.WithWatch, _ client.Object, _ client.Patch, options ...client.PatchOption) error {
					o := client.PatchOptions{}
					if o.ApplyOptions(options); len(o.DryRun) == 0 {
						t.Error("something is written")
					}
					tried++
					return forbidden("policy")
				},
			})
			p.assessment.Update = plan.Update{Next: plan.Member{Name: "c-0"}, Step: set}
			must(t, r.execute(t.Context(), p))
			all := r.refusals.of(p.key(), 1, noon)
			if tried != 1 || len(all) != 1 || all[0].Target != plan.TargetOfUpdate(set) || p.outcome.refused != 1 {
				t.Errorf("tried %d times; refused is %+v", tried, all)
			}
		})
	}
}

// TestRefusedInPlace has the API server refuse what is changed in place: only what can never be is marked, so that another way is found.
func TestRefusedInPlace(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "c-0", nil)
	policy := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "c-0", nil)
	policy.ErrStatus.Message = "pods \"c-0\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
	absent := apierrors.NewNotFound(schema.GroupResource{}, "c-0")
	absent.ErrStatus.Message = `admission webhook "w" denied the request: no`
	class := forbidden("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	tooSmall := apierrors.NewForbidden(schema.GroupResource{}, "c-0", errors.New("node didn't have enough allocatable resources"))
	tooSmall.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NodeCapacity"}}
	resize, expand := plan.Resize{Name: "c-0", UID: "pod"}, plan.Expand{Names: []string{"c-0"}}
	for title, c := range map[string]struct {
		action plan.Action
		answer error
		fixed  bool
	}{
		"invalid resources":               {resize, invalid, true},
		"no such subresource":             {resize, apierrors.NewNotFound(schema.GroupResource{}, "c-0"), true},
		"a small node":                    {resize, tooSmall, true},
		"resources, quota":                {resize, forbidden("exceeded quota: q"), false},
		"resources, policy":               {resize, policy, false},
		"resources, webhook":              {resize, unreached(), false},
		"resources, a webhook's own code": {resize, absent, false},
		"size, a webhook's own code":      {expand, absent, false},
		"a class without":                 {expand, class, true},
		"an invalid size":                 {expand, invalid, true},
		"size, quota":                     {expand, forbidden("exceeded quota: q"), false},
		"size, policy":                    {expand, policy, false},
		"a claim not yet bound":           {expand, forbidden("Only bound persistent volume claims can be expanded"), false},
	} {
		t.Run(title, func(t *testing.T) {
			first := true
			refuse := func() error {
				if first {
					first = false
					return c.answer
				}
				return nil
			}
			r, p := onePass(t, c.action, interceptor.Funcs{
				SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
					return refuse()
				},
				Patch: func(ctx context.Context, api client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
					if _, ok := o.(*corev1.PersistentVolumeClaim); ok {
						if err := refuse(); err != nil {
							return err
						}
					}
					return api.Patch(ctx, o, patch, options...)
				},
			})
			p.observed.Cluster.VolumeSize = 1 << 30
			must(t, r.execute(t.Context(), p))
			o := client.Object(&corev1.Pod{})
			if _, ok := c.action.(plan.Expand); ok {
				o = &corev1.PersistentVolumeClaim{}
			}
			must(t, r.Live.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-0"}, o))
			if fixed := o.GetAnnotations()[resources.AnnotationFixed] != ""; fixed != c.fixed || p.outcome.incomplete() == c.fixed {
				t.Errorf("fixed %v, incomplete %v", fixed, p.outcome.incomplete())
			}
		})
	}
}

// TestRewritten has a webhook take back a label that the spec asks for.
func TestRewritten(t *testing.T) {
	r, p := onePass(t, plan.SetMetadata{Name: "c-0", UID: "pod"}, interceptor.Funcs{
		Patch: func(ctx context.Context, api client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			err := api.Patch(ctx, o, patch, options...)
			o.GetLabels()["team"] = "theirs"
			return err
		},
	})
	p.cluster.Spec.Pod.Labels = map[string]string{"team": "ours"}
	var err error
	p.revision, err = resources.RevisionOf(p.cluster, r.podOptions(p))
	must(t, err)
	must(t, r.execute(t.Context(), p))
	all := r.refusals.of(p.key(), 1, noon)
	if len(all) != 1 || !strings.Contains(all[0].Message, `label "team" does not stay`) || !p.outcome.incomplete() {
		t.Errorf("refused is %+v", all)
	}
}

// TestThereAlready creates a pod that the pass has seen itself: to look again at once would end in the same for ever.
func TestThereAlready(t *testing.T) {
	for _, seen := range []bool{true, false} {
		r, p := onePass(t, plan.CreatePods{Pods: []plan.NewPod{{Name: "c-0", Incarnation: 1, Version: "3.6.16"}}}, interceptor.Funcs{})
		if !seen {
			clear(p.pods)
		}
		if err := r.execute(t.Context(), p); err == nil || apierrors.IsAlreadyExists(err) == seen {
			t.Errorf("seen %v: the error is %v", seen, err)
		}
	}
}

// TestPreviousSpec keeps the spec before an edit of any kind, and makes a pod from it that shows how it differs.
func TestPreviousSpec(t *testing.T) {
	for title, c := range map[string]struct {
		edit     func(*v1beta2.EtcdClusterSpec)
		kept     bool
		template bool
		drift    plan.Drift
	}{
		"none":      {func(*v1beta2.EtcdClusterSpec) {}, false, false, plan.Drift{}},
		"size":      {func(s *v1beta2.EtcdClusterSpec) { s.Size = 3 }, true, false, plan.Drift{}},
		"labels":    {func(s *v1beta2.EtcdClusterSpec) { s.Pod.Labels = map[string]string{"a": "b"} }, true, false, plan.Drift{Metadata: true}},
		"resources": {func(s *v1beta2.EtcdClusterSpec) { s.Pod.Resources = cpus("1") }, true, false, plan.Drift{Resources: true}},
		"options": {func(s *v1beta2.EtcdClusterSpec) {
			s.Etcd = &v1beta2.EtcdOptions{ExtraArgs: map[string]string{"snapshot-count": "5"}}
		}, true, true, plan.Drift{Template: true}},
	} {
		t.Run(title, func(t *testing.T) {
			r, p := onePass(t, plan.CreatePods{Pods: []plan.NewPod{{Name: "c-1", Incarnation: 1, Version: "3.6.16", FromPreviousSpec: true}}}, interceptor.Funcs{})
			p.cluster.Status.AcceptedSpec = specOf(asText(t, p.cluster.Spec))
			c.edit(&p.cluster.Spec)
			must(t, r.readSpecs(p))
			if (p.previousSpec != nil) != c.kept {
				t.Fatalf("the previous spec is %+v", p.previousSpec)
			}
			must(t, r.execute(t.Context(), p))
			pod := &corev1.Pod{}
			must(t, r.Live.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-1"}, pod))
			drift := p.revision.Drift(pod, "")
			if drift.Image = false; drift != c.drift {
				t.Errorf("the new pod differs by %+v, want %+v", drift, c.drift)
			}
			for mark, want := range map[string]bool{"": false, pod.Annotations[resources.AnnotationTemplate]: c.template} {
				p.claims["c-0"].Annotations[resources.AnnotationTemplate] = mark
				if from, err := r.fromPreviousSpec(p, p.claims["c-0"]); err != nil || from != want {
					t.Errorf("a volume with the mark %q is taken for one of the previous spec: %v, %v", mark, from, err)
				}
			}
		})
	}
}
