package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/soak"
)

const (
	// quota is that of a database, in bytes, to which each rolling change adds another number.
	quota     = 2 << 30
	slowFlush = 300 * time.Millisecond
	// clockJump is longer than the time after which Kubernetes calls a silent node lost.
	clockJump = 90 * time.Second
	latency   = 50 * time.Millisecond
	loss      = 0.05
)

// undo ends a fault.
type undo func(context.Context) error

// do does what was chosen, if the cluster is as the choice takes it to be, and returns what ends it, if anything does. What cannot
// be done, such as ending a process on a node that has no power, is left out: that says nothing about the operator.
func (r *round) do(ctx context.Context, a soak.Action) undo {
	pods, err := r.members(ctx)
	if err == nil {
		err = r.asPlanned(a, pods)
	}
	var end undo
	if err == nil {
		log.Print(a)
		end, err = r.act(ctx, a, pods)
	}
	if err != nil {
		log.Printf("%s left out: %v", a, err)
		r.total.left++
		return end
	}
	r.total.actions++
	r.done = append(r.done, a)
	return end
}

// errNotNow says that an action is not to be done to the cluster as it is.
var errNotNow = errors.New("the cluster is not as planned")

// asPlanned looks at what is: members lose their data only where all others are there and healthy.
func (r *round) asPlanned(a soak.Action, pods []corev1.Pod) error {
	w := seen(r, pods)
	lost := soak.Loses(w, a) && (!soak.Allowed(w, r.done, a) || len(pods) != len(r.world.Members))
	if len(pods) == 0 || lost {
		return errNotNow
	}
	return nil
}

// act does what is known by the action's kind. Members may be fewer for a moment than the choice has counted.
func (r *round) act(ctx context.Context, a soak.Action, pods []corev1.Pod) (undo, error) {
	target, node := pods[a.Member%len(pods)], r.lab.Nodes()[a.Node]
	for _, act := range []func() (undo, bool, error){
		func() (undo, bool, error) { return r.harmMember(ctx, a.Kind, target) },
		func() (undo, bool, error) { return r.harmDisk(ctx, a.Kind, target) },
		func() (undo, bool, error) { return r.harmNode(ctx, a.Kind, node, pods) },
		func() (undo, bool, error) { return r.harmLink(ctx, a.Kind, node) },
		func() (undo, bool, error) { return r.harmCluster(ctx, a.Kind) },
		func() (undo, bool, error) { return r.refuse(ctx, a.Kind) },
		func() (undo, bool, error) { return r.edit(ctx, a) },
		func() (undo, bool, error) { return r.backUp(ctx, a.Kind) },
	} {
		if undo, known, err := act(); known {
			return undo, err
		}
	}
	return nil, errors.New("nobody knows how to do this")
}

// seen is the world as it is: who is where, and ready.
func seen(r *round, pods []corev1.Pod) soak.World {
	w := r.world
	w.Members = nil
	for _, p := range pods {
		ready := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		w.Members = append(w.Members, soak.Member{
			Node: slices.Index(r.lab.Nodes(), p.Spec.NodeName), Healthy: ready && p.DeletionTimestamp == nil,
		})
	}
	return w
}

// members are the members' pods by name.
func (r *round) members(ctx context.Context) ([]corev1.Pod, error) {
	pods, err := r.Pods(ctx)
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods, err
}

func (r *round) harmMember(ctx context.Context, kind soak.Kind, pod corev1.Pod) (undo, bool, error) {
	faults, claim, container := r.lab.Faults(), r.Namespace+"/"+pod.Name, r.Namespace+"/"+pod.Name+"/etcd"
	switch kind {
	case soak.KillProcess:
		return nil, true, faults.KillContainer(ctx, container)
	case soak.FreezeProcess:
		return func(ctx context.Context) error {
			if err := faults.ThawContainer(ctx, container); err != nil {
				log.Printf("a frozen process may have been ended meanwhile: %v", err)
			}
			return nil
		}, true, faults.FreezeContainer(ctx, container)
	case soak.DeletePod:
		return nil, true, r.KillPod(ctx, pod.Name)
	case soak.DeleteClaim:
		return nil, true, errors.Join(r.bench.Run(ctx, "delete", "pvc", "-n", r.Namespace, pod.Name, "--wait=false"), r.KillPod(ctx, pod.Name))
	case soak.WipeVolume:
		return nil, true, r.corrupt(ctx, faults.WipeVolume, claim, container)
	case soak.CorruptWAL:
		return nil, true, r.corrupt(ctx, faults.CorruptWAL, claim, container)
	case soak.CorruptDB:
		return nil, true, r.corrupt(ctx, faults.CorruptDB, claim, container)
	default:
		return nil, false, nil
	}
}

func (r *round) corrupt(ctx context.Context, damage func(context.Context, string) error, claim, container string) error {
	if err := damage(ctx, claim); err != nil {
		return err
	}
	if err := r.lab.Faults().KillContainer(ctx, container); err != nil {
		log.Printf("etcd may have found the damage and ended before that: %v", err)
	}
	return nil
}

func (r *round) harmDisk(ctx context.Context, kind soak.Kind, pod corev1.Pod) (undo, bool, error) {
	if !slices.Contains([]soak.Kind{soak.SlowDisk, soak.HangDisk, soak.FillDisk}, kind) {
		return nil, false, nil
	}
	disks := r.lab.Disks()
	disk, err := disks.Of(ctx, r.Namespace+"/"+pod.Name)
	if err != nil {
		return nil, true, err
	}
	switch kind {
	case soak.SlowDisk:
		return func(ctx context.Context) error { return disks.Fast(ctx, disk) }, true, disks.Slow(ctx, disk, slowFlush)
	case soak.HangDisk:
		return func(ctx context.Context) error { return disks.Fast(ctx, disk) }, true, disks.Slow(ctx, disk, time.Hour)
	default:
		return func(ctx context.Context) error { return disks.Free(ctx, disk) }, true, disks.Fill(ctx, disk)
	}
}

func (r *round) harmNode(ctx context.Context, kind soak.Kind, node string, pods []corev1.Pod) (undo, bool, error) {
	faults := r.lab.Faults()
	heal := func(ctx context.Context) error { return faults.HealNode(ctx, node) }
	switch kind {
	case soak.KillNode:
		return heal, true, faults.KillNode(ctx, node)
	case soak.StopNode:
		return heal, true, faults.StopNode(ctx, node)
	case soak.IsolateNode:
		return heal, true, faults.IsolateNode(ctx, node)
	case soak.RemoveImage:
		return nil, true, faults.RemoveImage(ctx, node, pods[0].Spec.Containers[0].Image)
	case soak.DrainNode:
		// It may have to wait for the budget, or for what else is broken: an end is not asked for.
		drained, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			err := r.bench.Run(drained, "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force")
			if drained.Err() == nil {
				log.Printf("drained %s: %v", node, err)
			}
		}()
		return func(ctx context.Context) error {
			cancel()
			<-ended
			return r.bench.Run(ctx, "uncordon", node)
		}, true, nil
	default:
		return nil, false, nil
	}
}

func (r *round) harmLink(ctx context.Context, kind soak.Kind, node string) (undo, bool, error) {
	faults := r.lab.Faults()
	harm, known := map[soak.Kind]func(other string) error{
		soak.CutNode:    func(other string) error { return faults.PartitionNodes(ctx, node, other) },
		soak.MuteNode:   func(other string) error { return faults.PartitionOneWay(ctx, node, other) },
		soak.DeafenNode: func(other string) error { return faults.PartitionOneWay(ctx, other, node) },
	}[kind]
	if kind == soak.SlowLink {
		return func(ctx context.Context) error { return faults.FastLink(ctx, node) }, true, faults.SlowLink(ctx, node, latency, loss)
	}
	if !known {
		return nil, false, nil
	}
	var err error
	for _, other := range r.lab.Nodes() {
		if other != node {
			err = errors.Join(err, harm(other))
		}
	}
	return func(ctx context.Context) error { return faults.HealNode(ctx, node) }, true, err
}

func (r *round) edit(ctx context.Context, a soak.Action) (undo, bool, error) {
	change, known := map[soak.Kind]func(*v1beta2.EtcdClusterSpec){
		soak.Resize:  func(s *v1beta2.EtcdClusterSpec) { s.Size = int32(a.Size) }, //nolint:gosec // at most 5
		soak.Upgrade: func(s *v1beta2.EtcdClusterSpec) { s.Version = newVersion },
		soak.Roll: func(s *v1beta2.EtcdClusterSpec) {
			if s.Pod == nil {
				s.Pod = &v1beta2.PodPolicy{}
			}
			// Anything that no pod can take over without being replaced.
			s.Pod.EtcdEnv = []corev1.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: fmt.Sprint(quota + r.total.actions)}}
		},
	}[a.Kind]
	if !known {
		return nil, false, nil
	}
	return nil, true, r.Edit(ctx, change)
}
