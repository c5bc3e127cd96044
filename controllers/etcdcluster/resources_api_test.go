package etcdcluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestAPIServerResizes has a real API server resize a pod that no node has taken: to what Auto Pilot has chosen, with limits in proportion, to more, to
// less, and back to what the spec says. So the quality of service is the same each time, whether requests and limits are equal, or only one of them is
// given. The pod asks a node for no more than its spec then, with the container that installs what etcd is started by. Where the API server does not
// lower a limit of memory, that is recorded on the pod, which stays as it is.
func TestAPIServerResizes(t *testing.T) {
	config := testenv.Start(t)
	api, lowers := testenv.Client(t, config), serverVersion(t, config).AtLeast(version.MustParseGeneric("1.34"))
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for name, given := range map[string]corev1.ResourceRequirements{
		"equal":    {Requests: list("1", "2Gi"), Limits: list("1", "2Gi")},
		"limits":   {Limits: list("1", "2Gi")},
		"requests": {Requests: list("1", "2Gi")},
		"apart":    {Requests: list("999m", "2047Mi"), Limits: list("1", "2Gi")},
	} {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "c"}}
			c.Spec.Size, c.Spec.Pod = 1, &v1beta2.PodPolicy{Resources: given}
			r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(noon), OperatorImage: "operator:test", Etcd: etcd.NewPool(), Client: api, Live: api}
			p := &pass{cluster: c, pods: map[string]*corev1.Pod{}}
			spec := resources.SpecResources(c)
			choose := func(cpu, memory int64) {
				c.Status.Autopilot = &v1beta2.AutopilotStatus{Resources: &v1beta2.TunedResources{
					Requests:  amounts(plan.Resources{CPU: cpu, Memory: memory}),
					InsteadOf: v1beta2.ResourceAmounts{Requests: amounts(spec.Requests), Limits: amounts(spec.Limits)},
				}}
				var err error
				p.revision, err = resources.RevisionOf(c, r.podOptions(p))
				must(t, err)
			}
			choose(1270, 2672<<20)
			pod, err := resources.Pod(c, name+"-0", 1, nil, r.optionsFor(p, plan.NewPod{Name: name + "-0", Version: "3.6.16"}))
			must(t, err)
			must(t, api.Create(t.Context(), pod))
			class, has := pod.Status.QOSClass, resources.PodRequests(pod)
			resized := func(toSpec bool, fixed string) {
				t.Helper()
				p.pods[pod.Name] = pod
				must(t, r.resize(t.Context(), p, plan.Resize{Name: pod.Name, UID: string(pod.UID), ToSpec: toSpec}))
				must(t, api.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
				if pod.Status.QOSClass != class || pod.Annotations[resources.AnnotationFixed] != fixed {
					t.Fatalf("it is %s and was %s, with %v, want %q", pod.Status.QOSClass, class, pod.Annotations, fixed)
				}
				if got := resources.PodRequests(pod); fixed != "" && got != has {
					t.Fatalf("it requests %v, and is to keep %v", got, has)
				}
				has = resources.PodRequests(pod)
			}
			stays := !lowers && !given.Limits.Memory().IsZero()
			for i, to := range [][2]int64{{2000, 4 << 30}, {750, 1536 << 20}, {1270, 2672 << 20}} {
				choose(to[0], to[1])
				if stays && i > 0 { // only the first of them raises the limit
					resized(false, p.revision.Resources)
					continue
				}
				resized(false, "")
				if got := resources.PodRequests(pod); got.CPU != to[0] || got.Memory != to[1] {
					t.Errorf("it requests %v, and is to have %v", got, to)
				}
				if d := p.revision.Drift(pod, ""); d.Resources || d.Template {
					t.Errorf("it differs: %+v", d)
				}
			}
			if stays {
				resized(true, p.revision.SpecResources)
				return
			}
			resized(true, "")
			if got := resources.PodRequests(pod); got != spec.Requests || !p.revision.HasSpecResources(pod) {
				t.Errorf("it requests %v", got)
			}
			if installs := resources.AmountsOf(pod.Spec.InitContainers[0].Resources.Requests); installs.Exceeds(spec.Requests) {
				t.Errorf("the first container requests %v", installs)
			}
		})
	}
}

// serverVersion is that of the API server.
func serverVersion(t *testing.T, config *rest.Config) *version.Version {
	t.Helper()
	asked, err := discovery.NewDiscoveryClientForConfig(config)
	must(t, err)
	info, err := asked.ServerVersion()
	must(t, err)
	v, err := version.ParseGeneric(info.GitVersion)
	must(t, err)
	return v
}

// amounts is a list as in status.
func amounts(r plan.Resources) corev1.ResourceList {
	l := corev1.ResourceList{}
	if r.CPU > 0 {
		l[corev1.ResourceCPU] = *resource.NewMilliQuantity(r.CPU, resource.DecimalSI)
	}
	if r.Memory > 0 {
		l[corev1.ResourceMemory] = *resource.NewQuantity(r.Memory, resource.BinarySI)
	}
	return l
}
