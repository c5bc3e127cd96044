// Command bench measures how long the operator's steps take on the cluster that KUBECONFIG names, and prints a table
// with the median and the range of several runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	namespace = "etcd-bench"
	limit     = 3 * time.Minute
	// calm is how long etcd's leader must have been connected to its peers before it lets the membership change
	// (five seconds), with some to spare: the steps are measured apart from that wait.
	calm = 6 * time.Second
)

// results are durations by step, in the order in which the steps were first measured.
type results struct {
	steps []string
	took  map[string][]time.Duration
}

func (r *results) add(step string, d time.Duration) {
	if _, known := r.took[step]; !known {
		r.steps = append(r.steps, step)
	}
	r.took[step] = append(r.took[step], d)
	fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", d.Seconds(), step)
}

func main() {
	runs := flag.Int("runs", 5, "how often each step is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, runs int) error {
	env, err := harness.Connect()
	if err != nil {
		return err
	}
	if err := env.Deploy(ctx); err != nil {
		return err
	}
	r := &results{took: map[string][]time.Duration{}}
	for i := range runs {
		for kind, spec := range map[string]v1beta2.EtcdClusterSpec{"emptyDir": {Size: 3}, "PVC": onVolumes()} {
			if err := measure(ctx, env, r, fmt.Sprintf("bench-%d", i), kind, spec); err != nil {
				return fmt.Errorf("%s, run %d: %w", kind, i+1, err)
			}
		}
	}
	r.print()
	return nil
}

func onVolumes() v1beta2.EtcdClusterSpec {
	return v1beta2.EtcdClusterSpec{Size: 3, Pod: &v1beta2.PodPolicy{
		PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}}
}

// measure lives through one cluster's life.
func measure(ctx context.Context, env *harness.Env, r *results, name, kind string, spec v1beta2.EtcdClusterSpec) (
	err error,
) {
	start := time.Now()
	c, err := env.NewCluster(ctx, namespace, name, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Remove(context.WithoutCancel(ctx), limit)) }()
	resize := func(size int32) func() error {
		return func() error {
			err := c.Edit(ctx, func(s *v1beta2.EtcdClusterSpec) { s.Size = size })
			return errors.Join(err, c.Healthy(ctx, limit))
		}
	}
	if err := c.Healthy(ctx, limit); err != nil {
		return err
	}
	r.add("3 healthy members, "+kind, time.Since(start))
	for _, step := range []struct {
		title string
		do    func() error
	}{
		{"pod kill to 3 healthy, " + kind, func() error { return kill(ctx, c) }},
		{"3 to 5, " + kind, resize(5)},
		{"5 to 3, " + kind, resize(3)},
	} {
		if err := errors.Join(c.Settled(ctx, limit), sleep(ctx, calm)); err != nil {
			return err
		}
		start := time.Now()
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
		r.add(step.title, time.Since(start))
	}
	return nil
}

func kill(ctx context.Context, c *harness.Cluster) error {
	pods, err := c.Pods(ctx)
	if err != nil {
		return err
	}
	victim := pods[len(pods)-1]
	if err := c.KillPod(ctx, victim.Name); err != nil {
		return err
	}
	return c.Recovered(ctx, victim.UID, limit)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (r *results) print() {
	fmt.Println("| step | median | range | runs |\n| --- | --- | --- | --- |")
	for _, step := range r.steps {
		took := slices.Clone(r.took[step])
		slices.Sort(took)
		fmt.Printf("| %s | %.1f s | %.1f–%.1f s | %d |\n", step, took[len(took)/2].Seconds(),
			took[0].Seconds(), took[len(took)-1].Seconds(), len(took))
	}
}
