package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Writer is a client in the cluster that writes and reads all the while, through the client Service.
type Writer struct {
	cluster *Cluster
	pod     string
}

// Report is what the client did since the last one.
type Report struct {
	Operations   int64  `json:"operations"`
	Failures     int64  `json:"failures"`
	Lost         int64  `json:"lost"`
	LongestGapMS int64  `json:"longestGapMilliseconds"`
	LastError    string `json:"lastError"`
}

// String is the report in words.
func (r Report) String() string {
	return fmt.Sprintf("%d operations, %d failed, %d acknowledged writes lost, longest gap between writes %d ms",
		r.Operations, r.Failures, r.Lost, r.LongestGapMS)
}

// WriterOf is the client of a cluster, whether it runs or not.
func WriterOf(c *Cluster) *Writer { return &Writer{cluster: c, pod: c.Name + "-test-client"} }

// NewWriter starts a client and waits until it works.
func (c *Cluster) NewWriter(ctx context.Context) (*Writer, error) {
	object, err := c.Get(ctx)
	if err != nil {
		return nil, err
	}
	if len(object.Status.Endpoints) == 0 {
		return nil, fmt.Errorf("%s has no endpoints in its status", c.Name)
	}
	w := WriterOf(c)
	if err := c.Create(ctx, w.spec(object.Status.Endpoints[0])); client.IgnoreAlreadyExists(err) != nil {
		return nil, err
	}
	err = Await(ctx, "the client works", time.Minute, func(ctx context.Context) (string, bool) {
		r, err := w.ask(ctx, "report")
		return fmt.Sprintf("%v, %v", r, err), err == nil && r.Operations > r.Failures
	})
	if err == nil {
		_, err = w.Report(ctx)
	}
	return w, err
}

func (w *Writer) spec(endpoint string) *corev1.Pod {
	no, yes, id := false, true, int64(65532)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.cluster.Namespace, Name: w.pod},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: &no,
			RestartPolicy:                corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: &yes, RunAsUser: &id,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "client", Image: w.cluster.ClientImage, Args: []string{"--endpoints", endpoint},
				Ports: []corev1.ContainerPort{{Name: "report", ContainerPort: 8080}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// Report returns what happened since the last report, and starts a new one.
func (w *Writer) Report(ctx context.Context) (Report, error) { return w.ask(ctx, "reset") }

func (w *Writer) ask(ctx context.Context, path string) (Report, error) {
	r := Report{}
	body, err := w.cluster.Kube.CoreV1().RESTClient().Get().Namespace(w.cluster.Namespace).
		Resource("pods").Name(w.pod + ":8080").SubResource("proxy").Suffix(path).DoRaw(ctx)
	if err != nil {
		return r, fmt.Errorf("ask the client: %w", err)
	}
	return r, json.Unmarshal(body, &r)
}

// Stop removes the client.
func (w *Writer) Stop(ctx context.Context) error {
	now := int64(0)
	return client.IgnoreNotFound(w.cluster.Kube.CoreV1().Pods(w.cluster.Namespace).Delete(ctx, w.pod,
		metav1.DeleteOptions{GracePeriodSeconds: &now}))
}
