package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/history"
)

// Writer is a client in the cluster that writes and reads all the while, through the client Service.
type Writer struct {
	cluster *Cluster
	pod     string
}

// Report is what the client did since the last one.
type Report struct {
	Operations   int64            `json:"operations"`
	Failures     int64            `json:"failures"`
	Lost         int64            `json:"lost"`
	LongestGapMS int64            `json:"longestGapMilliseconds"`
	LeasesLost   int64            `json:"leasesLost"`
	Errors       map[string]int64 `json:"errors"`
}

// Gap is the longest time between two writes.
func (r Report) Gap() time.Duration { return time.Duration(r.LongestGapMS) * time.Millisecond }

// String is the report in words.
func (r Report) String() string {
	words := fmt.Sprintf("%d operations, %d failed, %d acknowledged writes lost, longest gap between writes %d ms",
		r.Operations, r.Failures, r.Lost, r.LongestGapMS)
	if r.LeasesLost > 0 {
		words += fmt.Sprintf(", %d leases lost", r.LeasesLost)
	}
	for _, text := range slices.Sorted(maps.Keys(r.Errors)) {
		words += fmt.Sprintf("\n%6d × %s", r.Errors[text], text)
	}
	return words
}

// FailedBut is how many operations failed with other errors than those whose text contains one of the given ones.
func (r Report) FailedBut(allowed ...string) int64 {
	failed := r.Failures
	for text, count := range r.Errors {
		if slices.ContainsFunc(allowed, func(a string) bool { return strings.Contains(text, a) }) {
			failed -= count
		}
	}
	return failed
}

// WriterOf is the client of a cluster, whether it runs or not.
func WriterOf(c *Cluster) *Writer { return &Writer{cluster: c, pod: c.Name + "-test-client"} }

// WriterIn is the client that a pod of yours runs, in the cluster's namespace.
func WriterIn(c *Cluster, pod string) *Writer { return &Writer{cluster: c, pod: pod} }

// ClientLabel is on the client's pod, for those who drain nodes and mean the members.
const ClientLabel = "etcd-operator-test-client"

// NewWriter starts a client, on the node of that name if it is not empty and with more flags (test/e2e/client), and waits until it works.
func (c *Cluster) NewWriter(ctx context.Context, node string, flags ...string) (*Writer, error) {
	object, err := c.Get(ctx)
	if err != nil {
		return nil, err
	}
	if len(object.Status.Endpoints) == 0 {
		return nil, fmt.Errorf("%s has no endpoints in its status", c.Name)
	}
	w := WriterOf(c)
	return w, w.start(ctx, object, node, flags)
}

// NewAskingWriter starts another client beside that of NewWriter, with more flags. It has the addresses of all members, and asks each whether it
// serves.
func (c *Cluster) NewAskingWriter(ctx context.Context, flags ...string) (*Writer, error) {
	object, err := c.Get(ctx)
	if err != nil {
		return nil, err
	}
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	var urls []string
	for _, m := range members.Members {
		urls = append(urls, m.ClientURLs...)
	}
	w := WriterIn(c, c.Name+"-asking-client")
	return w, w.start(ctx, object, "", append([]string{"--endpoints", strings.Join(urls, ","), "--health"}, flags...))
}

// start starts the client, and waits until it works.
func (w *Writer) start(ctx context.Context, object *v1beta2.EtcdCluster, node string, flags []string) error {
	if err := w.cluster.Create(ctx, w.spec(object, node, flags)); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	err := Await(ctx, "the client works", time.Minute, func(ctx context.Context) (string, bool) {
		r, err := w.Peek(ctx)
		return fmt.Sprintf("%v, %v", r, err), err == nil && r.Operations > r.Failures
	})
	if err == nil {
		_, err = w.Report(ctx)
	}
	return err
}

func (w *Writer) spec(c *v1beta2.EtcdCluster, node string, flags []string) *corev1.Pod {
	no, yes, id := false, true, int64(65532)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.cluster.Namespace, Name: w.pod, Labels: map[string]string{ClientLabel: w.cluster.Name},
		},
		Spec: corev1.PodSpec{
			NodeName:                     node,
			AutomountServiceAccountToken: &no,
			RestartPolicy:                corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: &yes, RunAsUser: &id,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "client", Image: w.cluster.ClientImage, Args: append([]string{"--endpoints", c.Status.Endpoints[0]}, flags...),
				Ports: []corev1.ContainerPort{{Name: "report", ContainerPort: 8080}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	mountCertificate(pod, c.Name+"-client")
	return pod
}

// mountCertificate gives the client a certificate, and the endpoints, once the cluster has them.
func mountCertificate(pod *corev1.Pod, secret string) {
	const folder = "/etc/client-tls"
	mode, optional := int32(0o444), true
	pod.Spec.Volumes = []corev1.Volume{{Name: "tls", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: &mode, Optional: &optional},
	}}}
	client := &pod.Spec.Containers[0]
	client.Args = append(client.Args, "--tls", folder)
	client.VolumeMounts = []corev1.VolumeMount{{Name: "tls", MountPath: folder, ReadOnly: true}}
}

// Report returns what happened since the last report, and starts a new one.
func (w *Writer) Report(ctx context.Context) (Report, error) {
	r := Report{}
	return r, w.ask(ctx, "reset", &r)
}

// Peek returns what happened since the last report, and lets it go on.
func (w *Writer) Peek(ctx context.Context) (Report, error) {
	r := Report{}
	return r, w.ask(ctx, "report", &r)
}

// History returns what the client's workers did since it was started.
func (w *Writer) History(ctx context.Context) (history.History, error) {
	h := history.History{}
	return h, w.ask(ctx, "history", &h)
}

func (w *Writer) ask(ctx context.Context, path string, answer any) error {
	body, err := w.cluster.Kube.CoreV1().RESTClient().Get().Namespace(w.cluster.Namespace).
		Resource("pods").Name(w.pod + ":8080").SubResource("proxy").Suffix(path).DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("ask the client: %w", err)
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("read the client's answer: %w", err)
	}
	return nil
}

// Stop removes the client.
func (w *Writer) Stop(ctx context.Context) error {
	now := int64(0)
	return client.IgnoreNotFound(w.cluster.Kube.CoreV1().Pods(w.cluster.Namespace).Delete(ctx, w.pod,
		metav1.DeleteOptions{GracePeriodSeconds: &now}))
}
