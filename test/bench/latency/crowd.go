package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/bench/meter"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// crowdLimit is how long a crowd may take to get healthy, or to go.
	crowdLimit = 20 * time.Minute
	// look is how often the crowd is listed: listing thirty clusters and their pods is not free on a small machine.
	look = 500 * time.Millisecond
	// settle is left to events and last writes before nothing is expected to happen any more.
	settle = 30 * time.Second
)

// together is how several clusters did that were created at once.
type together struct {
	clusters int
	all      time.Duration
	// making and idle are what the operator used until all were healthy, and while they were left alone.
	making, idle meter.Usage
	// changes is how often anyone changed an object of the clusters while they were left alone.
	changes int
}

// crowd creates n clusters of three members at once.
func crowd(ctx context.Context, env *harness.Env, watched *operatorMeter, n int, idle time.Duration) (
	row together, err error,
) {
	row.clusters = n
	space := fmt.Sprintf("%s-%d", namespace, n)
	if err := env.Namespace(ctx, space); err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, disperse(context.WithoutCancel(ctx), env, space)) }()
	before, err := watched.read(ctx)
	if err != nil {
		return row, err
	}
	start := time.Now()
	for i := range n {
		if _, err := env.NewCluster(ctx, space, fmt.Sprintf("c%d", i), v1beta2.EtcdClusterSpec{Size: 3}); err != nil {
			return row, err
		}
	}
	if err := healthy(ctx, env, space, n); err != nil {
		return row, err
	}
	row.all = time.Since(start)
	after, err := watched.read(ctx)
	if err != nil {
		return row, err
	}
	row.making = after.Since(before)
	fmt.Fprintf(os.Stderr, "%6.1f s  %d clusters at once\n", row.all.Seconds(), n)
	if err := sleep(ctx, settle); err != nil {
		return row, err
	}
	row.idle, row.changes, err = leaveAlone(ctx, env, watched, space, idle)
	return row, err
}

// healthy waits until n clusters have reached their specs and all of their pods are ready.
func healthy(ctx context.Context, env *harness.Env, space string, n int) error {
	var reached, ready int
	err := wait.PollUntilContextTimeout(ctx, look, crowdLimit, true, func(ctx context.Context) (bool, error) {
		clusters, pods := &v1beta2.EtcdClusterList{}, &corev1.PodList{}
		err := errors.Join(env.List(ctx, clusters, client.InNamespace(space)), env.List(ctx, pods, client.InNamespace(space)))
		if err != nil {
			return false, err
		}
		reached, ready = 0, 0
		for _, c := range clusters.Items {
			progress := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionProgressing)
			if progress != nil && progress.Reason == v1beta2.ReasonSpecReached &&
				len(c.Status.Members.Ready) == int(c.Spec.Size) {
				reached++
			}
		}
		for _, p := range pods.Items {
			if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			}) {
				ready++
			}
		}
		return reached == n && ready == 3*n, nil
	})
	if err != nil {
		return fmt.Errorf("%d of %d clusters healthy, %d pods ready: %w", reached, n, ready, err)
	}
	return nil
}

// leaveAlone watches what the operator uses, and what anyone changes, while nothing is asked for.
func leaveAlone(ctx context.Context, env *harness.Env, watched *operatorMeter, space string, idle time.Duration) (
	meter.Usage, int, error,
) {
	before, err := watched.read(ctx)
	if err != nil {
		return meter.Usage{}, 0, err
	}
	changes, err := countChanges(ctx, env, space, idle)
	if err != nil {
		return meter.Usage{}, 0, err
	}
	after, err := watched.read(ctx)
	return after.Since(before), changes, err
}

// disperse deletes a namespace and all that is in it.
func disperse(ctx context.Context, env *harness.Env, space string) error {
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}}
	if err := env.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		return err
	}
	return harness.Await(ctx, "namespace "+space+" gone", crowdLimit, func(ctx context.Context) (string, bool) {
		err := env.Get(ctx, client.ObjectKeyFromObject(object), object)
		return fmt.Sprint(err), err != nil && client.IgnoreNotFound(err) == nil
	})
}
