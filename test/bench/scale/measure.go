package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/bench/meter"
)

const (
	size = 3
	// creators is how many clusters are created at the same time.
	creators = 8
	// limit is how long all clusters may take to be healthy.
	limit = time.Hour
	// settle is left to the last steps and events after the last cluster got healthy.
	settle = 15 * time.Second
	// probePeriod is how long it takes until the readiness probes of all members that hang have failed.
	probePeriod = 10 * time.Second
	// later is when every cluster that hangs has been looked at: the heartbeat is a minute, and a fifth of that is jitter.
	later = 80 * time.Second
	// sampled is when every member has been asked for its metrics once since the operator started: that is due within five minutes of the first look.
	sampled = 5*time.Minute + later
)

// measurement is a run with n clusters.
type measurement struct {
	kubelet  *kubelet
	operator *operator
	world    *world
	options  options
	n        int
	probes   int
}

func (m *measurement) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%d clusters: "+format+"\n", append([]any{m.n}, args...)...)
}

// name is the i-th cluster's. A tenant has a few clusters in a namespace.
func (m *measurement) name(i int) types.NamespacedName {
	return types.NamespacedName{
		Namespace: fmt.Sprintf("tenant-%d", i/m.options.perNamespace), Name: fmt.Sprintf("c%d", i),
	}
}

// warmUp waits until the operator works: it answers a cluster that it cannot make.
func (m *measurement) warmUp(ctx context.Context) error {
	c := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "warm-up"},
		Spec:       v1beta2.EtcdClusterSpec{Size: 1, Version: "3.0.0"},
	}
	if err := m.kubelet.client.Create(ctx, c); err != nil {
		return err
	}
	err := m.kubelet.health.answered(ctx, client.ObjectKeyFromObject(c), time.Minute)
	return errors.Join(err, m.kubelet.client.Delete(ctx, c))
}

// create makes all clusters, as many at once as it is told to.
func (m *measurement) create(ctx context.Context, r *report) error {
	names := make([]types.NamespacedName, m.n)
	for i := range names {
		names[i] = m.name(i)
		if err := m.namespace(ctx, names[i].Namespace); err != nil {
			return err
		}
	}
	before, err := m.operator.read(ctx)
	if err != nil {
		return err
	}
	row := creation{clusters: m.n}
	start := time.Now()
	for batch := range slices.Chunk(names, cmp.Or(m.options.atOnce, m.n)) {
		each, err := m.createAtOnce(ctx, batch)
		if err != nil {
			return err
		}
		row.each = append(row.each, each...)
	}
	row.all = time.Since(start)
	m.progress("all healthy after %.1f s", row.all.Seconds())
	if err := pause(ctx, settle); err != nil {
		return err
	}
	after, err := m.operator.read(ctx)
	if err != nil {
		return err
	}
	if row.peak, err = m.operator.memory(peak); err != nil {
		return err
	}
	row.usage = after.Since(before)
	r.created = append(r.created, row)
	return nil
}

// createAtOnce returns how long it took each of these clusters to be healthy, once all are.
func (m *measurement) createAtOnce(ctx context.Context, names []types.NamespacedName) ([]time.Duration, error) {
	created := make([]time.Time, len(names))
	failed := make(chan error, creators)
	for worker := range creators {
		go func() {
			var err error
			for i := worker; i < len(names) && err == nil; i += creators {
				created[i] = time.Now()
				err = m.cluster(ctx, names[i])
			}
			failed <- err
		}()
	}
	var err error
	for range creators {
		err = errors.Join(err, <-failed)
	}
	if err != nil {
		return nil, err
	}
	when, err := m.kubelet.health.healthy(ctx, names, limit)
	if err != nil {
		return nil, err
	}
	each := make([]time.Duration, len(names))
	for i := range when {
		each[i] = when[i].Sub(created[i])
	}
	return each, nil
}

// freeze lets some of the clusters hang, and measures how long new ones take beside them: at once, while everything is
// noticed, and later.
func (m *measurement) freeze(ctx context.Context, silent int, r *report) error {
	frozen := map[types.NamespacedName]bool{}
	for i := range silent {
		frozen[m.name(i)] = true
	}
	pods := m.world.freeze(frozen)
	for i, pod := range pods {
		m.kubelet.queue.AddAfter(key{name: pod}, probePeriod*time.Duration(i)/time.Duration(len(pods)))
	}
	if err := m.probe(ctx, neighbours{clusters: m.n, silent: silent, when: "at once"}, r); err != nil {
		return err
	}
	if err := pause(ctx, later); err != nil {
		return err
	}
	return m.probe(ctx, neighbours{clusters: m.n, silent: silent, when: "later"}, r)
}

// probe creates clusters, one after the other.
func (m *measurement) probe(ctx context.Context, row neighbours, r *report) error {
	before, err := m.operator.read(ctx)
	if err != nil {
		return err
	}
	for range m.options.probes {
		name := m.name(m.n + m.probes)
		m.probes++
		if err := m.namespace(ctx, name.Namespace); err != nil {
			return err
		}
		start := time.Now()
		if err := m.cluster(ctx, name); err != nil {
			return err
		}
		when, err := m.kubelet.health.healthy(ctx, []types.NamespacedName{name}, limit)
		if err != nil {
			return err
		}
		row.each = append(row.each, when[0].Sub(start))
	}
	after, err := m.operator.read(ctx)
	if err != nil {
		return err
	}
	row.usage = after.Since(before)
	m.progress("%d silent, %s: a new one is healthy after %s", row.silent, row.when, seconds(row.each))
	r.neighbours = append(r.neighbours, row)
	return m.operator.profile(ctx, fmt.Sprintf("silent-%d-%s", row.silent, row.when))
}

func (m *measurement) namespace(ctx context.Context, name string) error {
	return client.IgnoreAlreadyExists(m.kubelet.client.Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}))
}

func (m *measurement) cluster(ctx context.Context, name types.NamespacedName) error {
	spec := v1beta2.EtcdClusterSpec{Size: size}
	if m.options.tls {
		spec.TLS = &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	}
	return m.kubelet.client.Create(ctx, &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Spec: spec,
	})
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// seconds are the median and the range.
func seconds(all []time.Duration) string {
	sorted := slices.Sorted(slices.Values(all))
	return fmt.Sprintf("%.2f s (%.2f–%.2f)", sorted[len(sorted)/2].Seconds(), sorted[0].Seconds(),
		sorted[len(sorted)-1].Seconds())
}

// requests are those of a usage by method, the most frequent first.
func requests(u meter.Usage) string {
	methods := make([]string, 0, len(u.Requests))
	for method, n := range u.Requests {
		if n > 0 {
			methods = append(methods, fmt.Sprintf("%s %d", method, n))
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}
