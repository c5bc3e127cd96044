package reach

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/diagnose"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

const (
	// logLines and logBytes are how much of a log is taken at most, from its end.
	logLines, logBytes = 5000, 4 << 20
	// readTimeout is for one request, logTimeout for one for a log, of which more may have to be read than is taken.
	readTimeout, logTimeout = 30 * time.Second, 2 * time.Minute
)

// Collect gathers what is known of a cluster. The error is for a person: without the EtcdCluster there is nothing to gather.
func (a *Access) Collect(ctx context.Context, name string, to *diagnose.Bundle) (*v1beta2.EtcdCluster, error) {
	facts, err := a.Examine(ctx, name, false)
	if err != nil {
		return nil, err
	}
	facts.Cluster.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("EtcdCluster"))
	to.Object("etcdcluster.yaml", facts.Cluster)
	a.objects(ctx, facts, to)
	a.said(ctx, facts, to)
	a.logs(ctx, facts, to)
	return facts.Cluster, ctx.Err()
}

// said is what members say, and what is made of that.
func (a *Access) said(ctx context.Context, facts *doctor.Facts, to *diagnose.Bundle) {
	var text strings.Builder
	found := doctor.Examine(facts)
	_ = found.Write(&text, false) // into memory: it does not fail
	to.Text("doctor.txt", text.String())
	if problem := facts.Unread[doctor.Members]; problem != "" {
		to.Missing("answers of members", errors.New(problem))
		return
	}
	answers, err := json.MarshalIndent(facts.Answers, "", "  ")
	if err != nil {
		to.Missing("answers.json", err)
	} else {
		to.Text("answers.json", string(answers))
	}
	for _, pod := range facts.Pods {
		file := "metrics/" + pod.Name + ".txt"
		asking, cancel := context.WithTimeout(ctx, AskTimeout)
		err := a.forward(asking, pod.Name, func(at local) {
			metrics, err := scrape(asking, at.metrics)
			if err != nil {
				to.Missing(file, err)
				return
			}
			to.Text(file, string(metrics))
		})
		cancel()
		if err != nil {
			to.Missing(file, err)
		}
	}
}

// objects are those of the cluster, with their events.
func (a *Access) objects(ctx context.Context, facts *doctor.Facts, to *diagnose.Bundle) {
	name, uids := facts.Cluster.Name, map[string]bool{string(facts.Cluster.UID): true}
	pods, claims, services := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}
	budgets, backups, restores := &policyv1.PodDisruptionBudgetList{}, &v1beta2.EtcdBackupList{}, &v1beta2.EtcdRestoreList{}
	own := client.MatchingLabels(resources.ClusterSelector(name))
	for _, l := range []struct {
		file  string
		list  client.ObjectList
		which []client.ListOption
		ours  func()
	}{
		{"pods.yaml", pods, []client.ListOption{own}, func() { noteUIDs(uids, pods.Items) }},
		{"persistentvolumeclaims.yaml", claims, []client.ListOption{own}, func() { noteUIDs(uids, claims.Items) }},
		{"services.yaml", services, []client.ListOption{own}, func() { noteUIDs(uids, services.Items) }},
		{"poddisruptionbudgets.yaml", budgets, nil, func() { noteUIDs(uids, budgets.Items) }},
		{"etcdbackups.yaml", backups, nil, func() {
			backups.Items = slices.DeleteFunc(backups.Items, func(b v1beta2.EtcdBackup) bool {
				return b.Spec.EtcdCluster == nil || b.Spec.EtcdCluster.Name != name
			})
			noteUIDs(uids, backups.Items)
		}},
		{"etcdrestores.yaml", restores, nil, func() {
			restores.Items = slices.DeleteFunc(restores.Items, func(r v1beta2.EtcdRestore) bool { return r.Spec.EtcdCluster.Name != name })
			noteUIDs(uids, restores.Items)
		}},
	} {
		a.list(ctx, to, l.file, l.list, l.which, l.ours)
	}
	events := &corev1.EventList{}
	a.list(ctx, to, "events.yaml", events, nil, func() {
		events.Items = slices.DeleteFunc(events.Items, func(e corev1.Event) bool { return !uids[string(e.InvolvedObject.UID)] })
		slices.SortStableFunc(events.Items, func(a, b corev1.Event) int { return when(a).Compare(when(b)) })
	})
}

// when is the last time of an event, in either of its forms.
func when(e corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return e.EventTime.Time
}

func (a *Access) list(ctx context.Context, to *diagnose.Bundle, file string, list client.ObjectList, which []client.ListOption, ours func()) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if err := a.client.List(ctx, list, append(which, client.InNamespace(a.namespace))...); err != nil {
		to.Missing(file, err)
		return
	}
	ours()
	to.Object(file, list)
}

// noteUIDs notes the UIDs of objects, whose events are wanted.
func noteUIDs[T any, P interface {
	*T
	client.Object
}](uids map[string]bool, items []T,
) {
	for i := range items {
		uids[string(P(&items[i]).GetUID())] = true
	}
}

// logs are those of the members, this and the last container's, and of the operator.
func (a *Access) logs(ctx context.Context, facts *doctor.Facts, to *diagnose.Bundle) {
	reader, err := corev1client.NewForConfig(a.config)
	if err != nil {
		to.Missing("logs", err)
		return
	}
	for _, pod := range facts.Pods {
		for _, previous := range []bool{false, true} {
			file := "logs/" + pod.Name + ".log"
			if previous {
				if !restarted(pod) {
					continue
				}
				file = "logs/" + pod.Name + ".previous.log"
			}
			text, err := log(ctx, reader, pod.Namespace, pod.Name, resources.EtcdContainer, previous)
			if err != nil {
				to.Missing(file, err)
				continue
			}
			to.Text(file, text)
		}
	}
	const file = "logs/operator.log"
	text, err := a.operatorLog(ctx, facts.Cluster)
	if err != nil {
		to.Missing(file, err)
		return
	}
	to.Text(file, diagnose.Own(text, facts.Cluster.Namespace))
}

func restarted(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == resources.EtcdContainer && s.RestartCount > 0
	})
}

// operatorLog is the end of the log of the operator that acts on a cluster: of the pod that holds the Lease which status names.
func (a *Access) operatorLog(ctx context.Context, c *v1beta2.EtcdCluster) (string, error) {
	ref := c.Status.Operator
	if ref == nil {
		return "", fmt.Errorf("no operator has marked %s as its own, so it is not known whose log to read", c.Name)
	}
	lease, err := a.leaseNow(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("find the operator by its Lease: %w", err)
	}
	pod := lease.Pod()
	if pod == "" {
		return "", fmt.Errorf("nobody holds the Lease %s/%s: the operator does not run", ref.Namespace, ref.Lease)
	}
	reader, err := corev1client.NewForConfig(a.config)
	if err != nil {
		return "", err
	}
	return log(ctx, reader, ref.Namespace, pod, "", false)
}

// log is the end of a container's log. No name is the only container, or the one that the pod's author has chosen.
func log(ctx context.Context, reader corev1client.PodsGetter, namespace, pod, container string, previous bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	options := &corev1.PodLogOptions{Container: container, Previous: previous, TailLines: new(int64(logLines))} // LimitBytes would cut its end off
	stream, err := reader.Pods(namespace).GetLogs(pod, options).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = stream.Close() }()
	text, err := tail(stream, logBytes)
	if err == nil && len(text) == 0 {
		return "", errors.New("it is empty")
	}
	return string(text), err
}

// tail is the end of a stream, most bytes at most, from the beginning of a line on if one begins there.
func tail(stream io.Reader, most int) (text []byte, err error) {
	chunk, cut := make([]byte, min(most, 64<<10)), false
	for err == nil {
		var n int
		n, err = stream.Read(chunk)
		text = append(text, chunk[:n]...)
		if len(text) > 2*most {
			text, cut = append(text[:0], text[len(text)-most:]...), true
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(text) > most {
		text, cut = text[len(text)-most:], true
	}
	if i := bytes.IndexByte(text, '\n'); cut && i >= 0 {
		text = text[i+1:]
	}
	return text, nil
}
