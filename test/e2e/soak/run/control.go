package main

import (
	"context"
	"errors"
	"log"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/soak"
)

// harmCluster does something to the operator, to Kubernetes or to the clock.
func (r *round) harmCluster(ctx context.Context, kind soak.Kind) (undo, bool, error) {
	faults := r.lab.Faults()
	switch kind {
	case soak.KillOperator:
		return nil, true, r.operators(ctx, func(p *corev1.Pod) error {
			return client.IgnoreNotFound(r.bench.Delete(ctx, p, client.GracePeriodSeconds(0)))
		})
	case soak.FreezeOperator:
		return func(ctx context.Context) error {
			return r.operators(ctx, func(p *corev1.Pod) error {
				if err := faults.ThawContainer(ctx, manager(p)); err != nil {
					log.Printf("its liveness probe may have ended the frozen operator: %v", err)
				}
				return nil
			})
		}, true, r.operators(ctx, func(p *corev1.Pod) error { return faults.FreezeContainer(ctx, manager(p)) })
	case soak.StopAPIServer:
		return faults.StartAPIServer, true, faults.StopAPIServer(ctx)
	case soak.ClockForward:
		return faults.RestoreClock, true, faults.JumpClock(ctx, clockJump)
	case soak.ClockBack:
		return faults.RestoreClock, true, faults.JumpClock(ctx, -clockJump)
	default:
		return nil, false, nil
	}
}

func manager(p *corev1.Pod) string { return p.Namespace + "/" + p.Name + "/manager" }

// operators does something to every pod of the operator that runs.
func (r *round) operators(ctx context.Context, do func(*corev1.Pod) error) error {
	pods := &corev1.PodList{}
	err := r.bench.List(ctx, pods, client.InNamespace(harness.OperatorNamespace))
	for _, p := range pods.Items {
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			err = errors.Join(err, do(&p))
		}
	}
	return err
}
