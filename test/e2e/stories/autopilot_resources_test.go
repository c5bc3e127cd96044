package stories

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// resizeGivenUpWithin is when a resize is given up that a full node holds up: after ten minutes.
const resizeGivenUpWithin = 13 * time.Minute

// weekPace presses a week into 34 minutes.
const weekPace = 300

// TestResize has clients use most of the memory, and then most of the CPU, that members request: all members are given more of it in place, with
// limits in proportion, up to the maximum, and nobody restarts. What is written to the spec counts from then on. No other story runs meanwhile,
// because the operator looks more often than usual.
func TestResize(t *testing.T) {
	quickened(t, sampledPace)
	editions(t, resize)
}

func resize(t *testing.T, etcd edition) {
	s := etcd.begin(t, "resize", resizable("100m", "128Mi", "300m", "512Mi"))
	s.settled()
	s.client()
	before := s.starts()
	s.keepsKeys(100)
	s.look("memory is used")
	s.requests("more memory", func(r corev1.ResourceRequirements) bool {
		asked := r.Requests.Memory().Value()
		return asked > 128<<20 && asked <= 512<<20 && r.Limits.Memory().Value() == 4*asked
	})
	calm := s.strains()
	s.requests("more CPU", func(r corev1.ResourceRequirements) bool {
		asked := r.Requests.Cpu().MilliValue()
		return asked > 100 && asked <= 300 && r.Limits.Cpu().IsZero()
	})
	calm()
	s.look("CPU is used")
	s.settled()
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	if a := object.Status.Autopilot; a == nil || a.Resources == nil || a.Resources.GivenUp != "" || a.Resources.InsteadOf.Requests.Cpu().String() != "100m" ||
		a.Resources.InsteadOf.Limits.Memory().String() != "512Mi" {
		t.Errorf("status.autopilot is %s", inJSON(a))
	}
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Pod.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("200m")
	}))
	s.requests("what the spec says", func(r corev1.ResourceRequirements) bool {
		return r.Requests.Cpu().String() == "200m" && r.Requests.Memory().String() == "128Mi" && r.Limits.Memory().String() == "512Mi"
	})
	s.report("a client saw")
	if after := s.starts(); after != before {
		t.Errorf("the pods were %s, and are %s", before, after)
	}
	if said := s.said(v1beta2.ReasonResizingMembers); len(said) == 0 || !strings.HasPrefix(said[0], "having the members request") {
		t.Errorf("it is told: %q", said)
	}
	if len(s.said(v1beta2.ReasonMembersResized)) == 0 {
		t.Error("it is not told that all members were resized")
	}
}

// TestResizeHeld has members use most of the CPU that they request, first at the maximum, and then where no node has room for more: it is said why
// they are given no more, and they go back to what they had. Nobody restarts, and no member is replaced.
func TestResizeHeld(t *testing.T) {
	quickened(t, sampledPace)
	oneByOne(t, resizeHeld)
}

func resizeHeld(t *testing.T, etcd edition) {
	s := etcd.begin(t, "resize-held", resizable("20m", "256Mi", "20m", "256Mi")) // of which etcd 3.5 uses more than 102Mi
	s.settled()
	s.client()
	before := s.starts()
	calm := s.strains()
	defer calm()
	must(t, harness.Await(t.Context(), "it is held at the maximum", judgedWithin, func(ctx context.Context) (string, bool) {
		return s.heldFor(ctx, "resources", v1beta2.ReasonResourcesHeld, "spec.autopilot.resources.max.cpu")
	}))
	s.unsaid(v1beta2.ReasonResizingMembers)

	const spare = 10 // thousandths of a core, less than one step
	for _, pod := range s.memberPods() {
		s.fillsNode(pod.Spec.NodeName, spare)
	}
	most := resource.MustParse("1")
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Autopilot.Resources.Max.CPU = &most }))
	must(t, harness.Await(t.Context(), "it is given up", judgedWithin+resizeGivenUpWithin, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		a := object.Status.Autopilot
		return inJSON(a), a != nil && a.Resources != nil && a.Resources.GivenUp != ""
	}))
	s.requests("what they had", func(r corev1.ResourceRequirements) bool { return r.Requests.Cpu().String() == "20m" })
	must(t, harness.Await(t.Context(), "it is held because it was given up", judgedWithin, func(ctx context.Context) (string, bool) {
		return s.heldFor(ctx, "resources", v1beta2.ReasonResourcesHeld, "given up")
	}))
	calm()
	s.settled()
	s.report("a client saw")
	if after := s.starts(); after != before {
		t.Errorf("the pods were %s, and are %s", before, after)
	}
}

// TestResizeLess has members that have used little CPU for a week request less of it, once, and down to the minimum at most, and nobody restarts.
// The week is pressed into 34 minutes, or some more where samples come late.
func TestResizeLess(t *testing.T) {
	quickened(t, weekPace)
	editions(t, resizeLess)
}

func resizeLess(t *testing.T, etcd edition) {
	const week = 7 * 24 * time.Hour / weekPace
	spec := resizable("400m", "128Mi", "400m", "128Mi")
	least := resource.MustParse("200m")
	spec.Autopilot.Resources.Min = &v1beta2.ResourceBounds{CPU: &least}
	start := time.Now()
	s := etcd.begin(t, "resize-less", spec)
	s.settled()
	s.client("--interval", "500ms") // what the members do for it, and for an operator that looks every second, is far from two fifths of a request
	before := s.starts()
	s.requestsWithin("less CPU", week*3/2, func(r corev1.ResourceRequirements) bool {
		return r.Requests.Cpu().String() == "300m" && r.Requests.Memory().String() == "128Mi" && r.Limits.Memory().String() == "512Mi"
	})
	if took := time.Since(start); took < week {
		t.Errorf("they have had less after %s, and a week takes %s", took, week)
	}
	s.settled()
	s.report("a client saw")
	if after := s.starts(); after != before {
		t.Errorf("the pods were %s, and are %s", before, after)
	}
	if said := s.said(v1beta2.ReasonResizingMembers); len(said) != 1 || !strings.Contains(said[0], "for seven days") {
		t.Errorf("it is told: %q", said)
	}
}

// resizable is a cluster of three that requests that much, is limited to four times as much memory, and may be given up to that much.
func resizable(cpu, memory, mostCPU, mostMemory string) v1beta2.EtcdClusterSpec {
	spec := onVolumes(3)
	asked, limit := resource.MustParse(memory), resource.MustParse(memory)
	limit.Mul(4)
	spec.Pod.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: asked},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: limit},
	}
	upCPU, upMemory := resource.MustParse(mostCPU), resource.MustParse(mostMemory)
	spec.Autopilot = &v1beta2.AutopilotSpec{
		Mode: v1beta2.AutopilotOn, Resources: &v1beta2.ResourcesAutopilot{Max: &v1beta2.ResourceBounds{CPU: &upCPU, Memory: &upMemory}},
	}
	return spec
}

// requests waits until the etcd containers of all members have such resources, and the kubelets have followed.
func (s *story) requests(what string, such func(corev1.ResourceRequirements) bool) {
	s.t.Helper()
	s.requestsWithin(what, judgedWithin, such)
}

// requestsWithin is requests with another time to wait at most.
func (s *story) requestsWithin(what string, within time.Duration, such func(corev1.ResourceRequirements) bool) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), what, within, func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx)
		if err != nil {
			return err.Error(), false
		}
		said, all := "", len(pods) == 3
		for _, p := range pods {
			asked, has := p.Spec.Containers[0].Resources, p.Status.ContainerStatuses[0].Resources
			said += fmt.Sprintf("%s is to have %s, and has %s; ", p.Name, inJSON(asked), inJSON(has))
			all = all && such(asked) && has != nil && has.Requests.Cpu().Cmp(*asked.Requests.Cpu()) == 0 && has.Limits.Memory().Cmp(*asked.Limits.Memory()) == 0
		}
		return said, all
	}))
}

// strains has clients write as much as the members take, until that is called off.
func (s *story) strains() (calm func()) {
	s.t.Helper()
	const clients, atOnce = 8, 100
	ctx, cancel := context.WithCancel(s.t.Context())
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				_ = s.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error { // an error shows in what the story waits for
					for j := range atOnce {
						if _, err := etcd.Put(ctx, fmt.Sprintf("strain/%d/%d", i, j), "x"); err != nil {
							return err
						}
					}
					return nil
				})
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// fillsNode has a pod request all CPU of a node that is left but for so many thousandths.
func (s *story) fillsNode(name string, spare int64) {
	s.t.Helper()
	node, err := env.Kube.CoreV1().Nodes().Get(s.t.Context(), name, metav1.GetOptions{})
	must(s.t, err)
	pods, err := env.Kube.CoreV1().Pods("").List(s.t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
	must(s.t, err)
	left := node.Status.Allocatable.Cpu().MilliValue() - spare
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, c := range p.Spec.Containers {
			left -= c.Resources.Requests.Cpu().MilliValue()
		}
	}
	grace, filler := int64(0), "fill-"+name
	must(s.t, env.Create(s.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: filler},
		Spec: harness.Restricted(corev1.PodSpec{
			NodeName: name, TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{
				Name: "main", Image: "busybox", ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sleep", "3600"},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: *resource.NewMilliQuantity(left, resource.DecimalSI),
				}},
			}},
		}),
	}))
	must(s.t, env.Run(s.t.Context(), "wait", "-n", s.Namespace, "--for=condition=Ready", "pod/"+filler, "--timeout=2m"))
}
