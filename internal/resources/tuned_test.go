package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// list is CPU and memory as in a manifest; what is empty is left out.
func list(cpu, memory string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if text != "" {
			l[name] = resource.MustParse(text)
		}
	}
	return l
}

// resizedCluster is one with these resources, of which Auto Pilot has made others.
func resizedCluster(requests, limits, to corev1.ResourceList, changes ...func(*v1beta2.EtcdCluster)) *v1beta2.EtcdCluster {
	return cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
		spec := SpecResources(c)
		c.Status.Autopilot = &v1beta2.AutopilotStatus{Resources: &v1beta2.TunedResources{
			Requests: to, InsteadOf: v1beta2.ResourceAmounts{Requests: listOf(spec.Requests), Limits: listOf(spec.Limits)},
		}}
		for _, change := range changes {
			change(c)
		}
	})
}

func listOf(r plan.Resources) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(r.CPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(r.Memory, resource.BinarySI),
	}
}

// TestTunedResources has pods request what Auto Pilot has chosen, with limits in proportion, as long as the spec has what that was chosen instead of.
func TestTunedResources(t *testing.T) {
	edited := func(c *v1beta2.EtcdCluster) { c.Spec.Pod.Resources.Limits = list("4", "") }
	for title, c := range map[string]struct {
		cluster          *v1beta2.EtcdCluster
		requests, limits corev1.ResourceList
	}{
		"requests alone":     {resizedCluster(list("1", "2Gi"), nil, list("1250m", "3Gi")), list("1250m", "3Gi"), nil},
		"limits that equal":  {resizedCluster(list("1", "2Gi"), list("1", "2Gi"), list("1270m", "2672Mi")), list("1270m", "2672Mi"), list("1270m", "2672Mi")},
		"limits alone":       {resizedCluster(nil, list("1", "2Gi"), list("750m", "1536Mi")), nil, list("750m", "1536Mi")},
		"limits above":       {resizedCluster(list("500m", "1Gi"), list("2", "3Gi"), list("750m", "1536Mi")), list("750m", "1536Mi"), list("3", "4608Mi")},
		"limits just above":  {resizedCluster(list("999m", "1Gi"), list("1", "1025Mi"), list("750m", "768Mi")), list("750m", "768Mi"), list("751m", "806092800")},
		"CPU alone":          {resizedCluster(list("1", ""), list("2", "4Gi"), list("1250m", "4Gi")), list("1250m", ""), list("2500m", "4Gi")},
		"nothing":            {resizedCluster(nil, nil, list("1", "1Gi")), nil, nil},
		"another spec since": {resizedCluster(list("1", "2Gi"), list("2", ""), list("1250m", "3Gi"), edited), list("1", "2Gi"), list("4", "")},
		"much memory":        {resizedCluster(nil, list("", "8Ti"), list("", "9Ti")), nil, list("", "9Ti")},
	} {
		pod, err := Pod(c.cluster, "c-0", 1, nil, PodOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := corev1.ResourceRequirements{Requests: c.requests, Limits: c.limits}
		if got := EtcdOf(pod).Resources; !equality.Semantic.DeepEqual(got, want) {
			t.Errorf("%s: it has %v, want %v", title, got, want)
		}
		spec := c.cluster.Spec.Pod.Resources
		for name, got := range map[string][2]corev1.ResourceList{
			"requests": {pod.Spec.InitContainers[0].Resources.Requests, spec.Requests}, "limits": {pod.Spec.InitContainers[0].Resources.Limits, spec.Limits},
		} {
			wanted := map[string]corev1.ResourceList{"requests": want.Requests, "limits": want.Limits}[name]
			for resource, most := range got[1] {
				if asked, chosen := got[0][resource], wanted[resource]; asked.Cmp(most) > 0 || asked.Cmp(chosen) > 0 {
					t.Errorf("%s: the installer has %s of %s in %s", title, asked.String(), resource, name)
				}
			}
		}
		if got := c.cluster.Spec.Pod.Resources; title == "requests alone" && !equality.Semantic.DeepEqual(got.Requests, list("1", "2Gi")) {
			t.Errorf("the spec was changed to %v", got)
		}
	}
}

// TestTunedDrift tells what a pod differs in from what Auto Pilot has chosen, which is no reason to make it anew.
func TestTunedDrift(t *testing.T) {
	spec := cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{Resources: corev1.ResourceRequirements{Requests: list("1", "2Gi")}}
	})
	tuned, earlier := resizedCluster(list("1", "2Gi"), nil, list("2", "4Gi")), resizedCluster(list("1", "2Gi"), nil, list("1500m", "3Gi"))
	back := resizedCluster(list("1", "2Gi"), nil, list("1", "2Gi"))
	revision := func(c *v1beta2.EtcdCluster) Revision {
		r, err := RevisionOf(c, PodOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	pod := func(c *v1beta2.EtcdCluster, refused *v1beta2.EtcdCluster) *corev1.Pod {
		p, err := Pod(c, "c-0", 1, nil, PodOptions{EtcdVersion: "3.6.16"})
		if err != nil {
			t.Fatal(err)
		}
		if refused != nil {
			p.Annotations[AnnotationFixed] = revision(refused).Resources
		}
		return p
	}
	for title, c := range map[string]struct {
		cluster          *v1beta2.EtcdCluster
		pod              *corev1.Pod
		drift            plan.Drift
		untuned, refused bool
	}{
		"it has it":                            {tuned, pod(tuned, nil), plan.Drift{}, false, false},
		"it has what the spec says":            {tuned, pod(spec, nil), plan.Drift{}, true, false},
		"it has what was before":               {tuned, pod(earlier, nil), plan.Drift{Resources: true}, false, false},
		"it cannot be resized from the spec's": {tuned, pod(spec, tuned), plan.Drift{}, true, true},
		"it cannot be resized":                 {tuned, pod(earlier, tuned), plan.Drift{}, false, true},
		"it could not be once":                 {tuned, pod(tuned, tuned), plan.Drift{}, false, false},
		"it could not be to another":           {tuned, pod(earlier, spec), plan.Drift{Resources: true}, false, false},
		"it cannot be resized back":            {back, pod(tuned, spec), plan.Drift{}, false, true},
		"it went back":                         {back, pod(spec, tuned), plan.Drift{}, false, false},
		"the user's cannot be resized":         {spec, pod(tuned, spec), plan.Drift{Template: true}, false, false},
	} {
		r := revision(c.cluster)
		if got := r.Drift(c.pod, ""); got != c.drift || r.HasSpecResources(c.pod) != c.untuned || r.RefusedResize(c.pod) != c.refused {
			t.Errorf("%s: %+v, untuned %t, refused %t", title, got, r.HasSpecResources(c.pod), r.RefusedResize(c.pod))
		}
	}
	if r := revision(Untuned(tuned)); r.Resources != r.SpecResources || tuned.Status.Autopilot.Resources == nil {
		t.Errorf("untuned: %+v", r)
	}
}

// TestLessMemory tells a change that may end etcd from others: the kernel ends what exceeds a limit.
func TestLessMemory(t *testing.T) {
	for title, c := range map[string]struct {
		had, gets corev1.ResourceRequirements
		less      bool
	}{
		"the limit alone":       {limited("2Gi", "4Gi"), limited("2Gi", "3Gi"), true},
		"a limit at last":       {limited("2Gi", ""), limited("2Gi", "4Gi"), true},
		"none any more":         {limited("2Gi", "4Gi"), limited("2Gi", ""), false},
		"more":                  {limited("2Gi", "4Gi"), limited("3Gi", "4Gi"), false},
		"it requests less":      {limited("2Gi", "4Gi"), limited("1Gi", "4Gi"), true},
		"more of a limit alone": {limited("2Gi", "2Gi"), limited("", "8Gi"), false}, // the API server requested the limit
		"less of a limit alone": {limited("8Gi", "8Gi"), limited("", "2Gi"), true},
		"the same":              {limited("2Gi", "4Gi"), limited("2Gi", "4Gi"), false},
	} {
		of := func(r corev1.ResourceRequirements) *v1beta2.EtcdCluster {
			return cluster(func(c *v1beta2.EtcdCluster) { c.Spec.Pod = &v1beta2.PodPolicy{Resources: r} })
		}
		pod, err := Pod(of(c.had), "c-0", 1, nil, PodOptions{EtcdVersion: "3.6.16"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := RevisionOf(of(c.gets), PodOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Drift(pod, ""); got.LessMemory != c.less {
			t.Errorf("%s: %+v", title, got)
		}
	}
}

// limited is so much memory, requested and as a limit; empty for none.
func limited(requests, limits string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: list("", requests), Limits: list("", limits)}
}

// TestResizeRestarts finds a policy by which a resize restarts etcd.
func TestResizeRestarts(t *testing.T) {
	for title, c := range map[string]struct {
		template string
		want     bool
	}{
		"no template": {"", false},
		"of memory":   {`{"spec":{"containers":[{"name":"etcd","resizePolicy":[{"resourceName":"memory","restartPolicy":"RestartContainer"}]}]}}`, true},
		"of another":  {`{"spec":{"containers":[{"name":"side","image":"i","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}]}}`, false},
		"the default": {`{"spec":{"containers":[{"name":"etcd","resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}]}]}}`, false},
	} {
		spec := cluster(func(c *v1beta2.EtcdCluster) {
			if c.Spec.Pod = (&v1beta2.PodPolicy{}); title != "no template" {
				c.Spec.Pod.Template = &runtime.RawExtension{}
			}
		})
		if c.template != "" {
			spec.Spec.Pod.Template.Raw = []byte(c.template)
		}
		pod, err := basePod(spec, "member", 0, PodOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := ResizeRestarts(pod); got != c.want {
			t.Errorf("%s: %t", title, got)
		}
	}
}
