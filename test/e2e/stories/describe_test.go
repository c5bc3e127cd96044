package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// describe logs what a reader of a failure needs: status, pods, events, and what the operator said.
func describe(t *testing.T, c *harness.Cluster) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if object, err := c.Get(ctx); err == nil {
		t.Logf("status at the end: %s\n%+v", harness.Words(object), object.Status)
	}
	pods, err := c.Pods(ctx)
	if err != nil {
		t.Log(err)
	}
	for _, p := range pods {
		t.Logf("pod %s", inWords(p))
	}
	events, err := env.Kube.EventsV1().Events(c.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Log(err)
		return
	}
	for _, e := range events.Items {
		// The rest is what every pod goes through.
		if e.Regarding.Kind == "EtcdCluster" || e.Type == corev1.EventTypeWarning {
			at := e.EventTime.Time
			if at.IsZero() {
				at = e.DeprecatedLastTimestamp.Time
			}
			t.Logf("event %s %s/%s %s: %s", at.Format(time.TimeOnly), e.Regarding.Kind, e.Regarding.Name, e.Reason, e.Note)
		}
	}
	sayings(ctx, t, c.Namespace)
}

func inWords(p corev1.Pod) string {
	text := fmt.Sprintf("%s on %s, %s, labels %v", p.Name, p.Spec.NodeName, p.Status.Phase, p.Labels)
	if p.DeletionTimestamp != nil {
		text += ", being deleted"
	}
	for _, s := range p.Status.ContainerStatuses {
		text += fmt.Sprintf(", %s restarted %d times, ready %t, %+v", s.Name, s.RestartCount, s.Ready, s.State)
	}
	return text
}

// sayings logs the last lines of the operators' logs that speak of the namespace.
func sayings(ctx context.Context, t *testing.T, namespace string) {
	const most = 60
	pods := &corev1.PodList{}
	if err := env.List(ctx, pods, client.InNamespace(harness.OperatorNamespace)); err != nil {
		t.Log(err)
	}
	for _, p := range pods.Items {
		log, err := env.Kube.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		if err != nil {
			t.Log(err)
			continue
		}
		var lines []string
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, namespace) || strings.Contains(line, "panic") {
				lines = append(lines, short(line))
			}
		}
		t.Logf("operator %s:\n%s", p.Name, strings.Join(lines[max(0, len(lines)-most):], "\n"))
	}
}

// short is what differs from line to line of the operator's log.
func short(line string) string {
	said := struct {
		TS                time.Time
		Level, Msg, Error string
	}{}
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		return strings.TrimSpace(line)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", said.TS.Format(time.TimeOnly), said.Level, said.Msg, said.Error))
}
