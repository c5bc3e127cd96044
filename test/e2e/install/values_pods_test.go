package install

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// mark is the label and the taint of nodes that the values name, and the name of their PriorityClass, whose pods are so important.
	mark      = "install-values"
	important = 1000
)

// prepare makes what the values name, until the story ends: nodes with a label, of which the first has a taint, a PriorityClass, and a Secret
// to pull with.
func (v *valued) prepare() {
	v.t.Helper()
	all := nodes.Nodes()
	const needed = 3 // so that there is one without the label
	if len(all) < needed {
		v.t.Fatalf("the lab has the nodes %v, and this story takes %d", all, needed)
	}
	v.first, v.second = all[len(all)-1], all[len(all)-2]
	must(v.t, v.Run(v.t.Context(), "label", "node", v.first, v.second, mark+"=here", "--overwrite"))
	v.atEnd("label", "node", v.first, v.second, mark+"-")
	must(v.t, v.Run(v.t.Context(), "taint", "node", v.first, mark+"=here:NoSchedule", "--overwrite"))
	v.atEnd("taint", "node", v.first, mark+"-")
	v.creates(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: mark}, Value: important})
	must(v.t, v.Namespace(v.t.Context(), harness.OperatorNamespace))
	v.creates(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "mirror"}, Type: corev1.SecretTypeDockerConfigJson,
		StringData: map[string]string{corev1.DockerConfigJsonKey: `{"auths":{"mirror.example.com":{"username":"reader","password":"any"}}}`},
	})
}

// atEnd runs kubectl when the story ends.
func (s *story) atEnd(args ...string) {
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.Run(ctx, args...); err != nil {
			s.t.Error(err)
		}
	})
}

// creates makes an object that is there until the story ends.
func (s *story) creates(object client.Object) {
	s.t.Helper()
	must(s.t, client.IgnoreAlreadyExists(s.Create(s.t.Context(), object)))
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := client.IgnoreNotFound(s.Delete(ctx, object)); err != nil {
			s.t.Error(err)
		}
	})
}

// operators are the operator's pods as values ask for them.
type operators struct {
	replicas int
	// node is where all of them run, and note an annotation that they have.
	node, note string
	// cpu and memory are requested, and so much is the most that they may use.
	cpu, memory, mostCPU, mostMemory string
	// tolerates is whether they tolerate the taint.
	tolerates bool
}

// runs waits until all pods of the operator are as the values ask for them, and the kubelets have seen to that.
func (v *valued) runs(want operators) {
	v.t.Helper()
	must(v.t, harness.Await(v.t.Context(), "the operator is as the values say", limit, func(ctx context.Context) (string, bool) {
		pods, err := v.Operators(ctx, harness.OperatorNamespace)
		var wrong []string
		for _, p := range pods {
			for _, what := range want.missing(p) {
				wrong = append(wrong, p.Name+": "+what)
			}
			if image := p.Spec.Containers[0].Image; image != v.named() {
				wrong = append(wrong, p.Name+": the image is "+image)
			}
		}
		return fmt.Sprintf("%d pods, %s, %v", len(pods), strings.Join(wrong, "; "), err), err == nil && len(pods) == want.replicas && len(wrong) == 0
	}))
}

// missing is what a pod does not have as wanted. The label and the importance are what no value has changed later.
func (want operators) missing(p corev1.Pod) (wrong []string) {
	priority, container, tolerates := int32(0), p.Spec.Containers[0], false
	if p.Spec.Priority != nil {
		priority = *p.Spec.Priority
	}
	for _, t := range p.Spec.Tolerations {
		tolerates = tolerates || t.Key == mark
	}
	for what, pair := range map[string][2]string{
		"node":         {p.Spec.NodeName, want.node},
		"note":         {p.Annotations["note"], want.note},
		"team":         {p.Labels["team"], "storage"},
		"priority":     {fmt.Sprint(priority), fmt.Sprint(important)},
		"pull policy":  {string(container.ImagePullPolicy), string(corev1.PullAlways)},
		"pull Secrets": {fmt.Sprint(p.Spec.ImagePullSecrets), fmt.Sprint([]corev1.LocalObjectReference{{Name: "mirror"}})},
		"toleration":   {fmt.Sprint(tolerates), fmt.Sprint(want.tolerates)},
	} {
		if pair[0] != pair[1] {
			wrong = append(wrong, fmt.Sprintf("the %s is %s, not %s", what, pair[0], pair[1]))
		}
	}
	if len(p.Status.ContainerStatuses) != 1 || !p.Status.ContainerStatuses[0].Ready || p.Status.ContainerStatuses[0].Resources == nil {
		return append(wrong, fmt.Sprintf("it is not ready: %+v", p.Status.ContainerStatuses))
	}
	has := p.Status.ContainerStatuses[0].Resources
	if !amounts(has.Requests, want.cpu, want.memory) || !amounts(has.Limits, want.mostCPU, want.mostMemory) {
		wrong = append(wrong, fmt.Sprintf("its container has %s and %s, at most %s and %s",
			has.Requests.Cpu(), has.Requests.Memory(), has.Limits.Cpu(), has.Limits.Memory()))
	}
	return wrong
}

// amounts reports whether a container has been given just that much.
func amounts(of corev1.ResourceList, cpu, memory string) bool {
	return of.Cpu().Cmp(resource.MustParse(cpu)) == 0 && of.Memory().Cmp(resource.MustParse(memory)) == 0
}
