package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	limit = 3 * time.Minute
	// calm is how long etcd's leader must have been connected to its peers before it lets the membership change
	// (five seconds), with some to spare: the steps are measured apart from that wait.
	calm = 6 * time.Second
)

// lives measures the steps of clusters' lives, on emptyDir and on volumes.
func lives(ctx context.Context, env *harness.Env, r *results, runs int) error {
	for i := range runs {
		for kind, spec := range map[string]v1beta2.EtcdClusterSpec{"emptyDir": {Size: 3}, "PVC": onVolumes()} {
			if err := measure(ctx, env, r, fmt.Sprintf("bench-%d", i), kind, spec); err != nil {
				return fmt.Errorf("%s, run %d: %w", kind, i+1, err)
			}
		}
	}
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
	return upgrade(ctx, c, r, kind)
}

func kill(ctx context.Context, c *harness.Cluster) error {
	pods, err := c.Pods(ctx)
	if err != nil {
		return err
	}
	target := pods[len(pods)-1]
	if err := c.KillPod(ctx, target.Name); err != nil {
		return err
	}
	return c.Recovered(ctx, target.UID, limit)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
