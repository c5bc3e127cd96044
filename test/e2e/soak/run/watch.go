package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/test/e2e/soak/record"
)

// What is looked at while a round lasts, and how often: who there is, and, less often, what their logs hold.
const (
	followInterval = time.Second
	takeEvery      = 10
)

// watch begins the traffic, and has it follow the members until it is stopped.
func (r *round) watch(ctx context.Context) (stop func() error, err error) {
	pods, err := r.members(ctx)
	if err != nil {
		return nil, err
	}
	quiet, err := record.Quiet()
	if err != nil {
		return nil, err
	}
	r.logs.Folder = r.folder(r.Namespace + "-logs")
	if err := os.RemoveAll(r.logs.Folder); err != nil {
		return nil, fmt.Errorf("forget the logs of an earlier run: %w", err)
	}
	if r.recorder, err = record.Start(ctx, quiet, endpoints(pods), r.chosen.Kubernetes); err != nil {
		return nil, err
	}
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- r.follow(ctx, done) }()
	return func() error { close(done); return <-ended }, nil
}

// follow has traffic at all members that there are, and takes copies of their logs. What is not to be had while Kubernetes is away,
// or of a member that is broken, is had later, or of others.
func (r *round) follow(ctx context.Context, done <-chan struct{}) error {
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	for n := 0; ; n++ {
		if members, err := r.voters(ctx); err == nil {
			if err := r.recorder.Follow(ctx, members); err != nil {
				return err
			}
			if n%takeEvery == 0 {
				_ = r.take(ctx)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-done:
			return nil
		case <-ticker.C:
		}
	}
}

// voters are the endpoints of all members; those map to true that are ready voters.
func (r *round) voters(ctx context.Context) (map[string]bool, error) {
	object, err := r.Get(ctx)
	if err != nil {
		return nil, err
	}
	pods, err := r.members(ctx)
	found := map[string]bool{}
	for _, p := range pods {
		for _, endpoint := range endpoints([]corev1.Pod{p}) {
			found[endpoint] = slices.Contains(object.Status.Members.Ready, p.Name)
		}
	}
	return found, err
}

func endpoints(pods []corev1.Pod) (found []string) {
	for _, p := range pods {
		if p.Status.PodIP != "" && p.DeletionTimestamp == nil {
			found = append(found, "http://"+net.JoinHostPort(p.Status.PodIP, "2379"))
		}
	}
	return found
}

// serves holds when etcd itself says of every member what status may say of what was: that it answers with what a majority has.
func (r *round) serves(ctx context.Context) (string, bool) {
	object, err := r.Get(ctx)
	if err != nil {
		return err.Error(), false
	}
	pods, err := r.members(ctx)
	if err != nil || len(pods) != int(object.Spec.Size) {
		return fmt.Sprintf("%d pods, %v", len(pods), err), false
	}
	for _, p := range pods {
		if err := r.answers(ctx, p); err != nil {
			return p.Name + ": " + err.Error(), false
		}
	}
	return "", true
}

// answers reads through one member, which asks its leader first.
func (r *round) answers(ctx context.Context, pod corev1.Pod) error {
	etcd, err := r.Etcd(pod)
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = etcd.Get(ctx, "key")
	return err
}

// take copies the logs of all members that run.
func (r *round) take(ctx context.Context) error {
	object, err := r.Get(ctx)
	if err != nil {
		return err
	}
	for _, m := range object.Status.MemberStatuses {
		if m.ID == "" {
			continue
		}
		root, failed := r.lab.ContainerRoot(ctx, r.Namespace+"/"+m.Name+"/etcd")
		if failed == nil {
			failed = r.logs.Take(m.ID, filepath.Join(root, member.DataDir))
		}
		err = errors.Join(err, failed)
	}
	return err
}

// judge ends the traffic, and has all that it saw judged. What fails is kept.
func (r *round) judge(ctx context.Context) error {
	pods, err := r.members(ctx)
	if err != nil {
		return err
	}
	reports, err := r.recorder.Finish(ctx, endpoints(pods))
	if err != nil {
		return err
	}
	good, all := record.Count(reports)
	r.total.good, r.total.operations, r.total.rounds = r.total.good+good, r.total.operations+all, r.total.rounds+1
	r.total.longest = max(r.total.longest, record.Longest(reports))
	if err := r.take(ctx); err != nil {
		return fmt.Errorf("copy the members' logs: %w", err)
	}
	logs, err := r.logs.Folders()
	if err != nil {
		return err
	}
	err = r.recorder.Judge(reports, slices.Collect(maps.Values(logs)))
	log.Printf("round %d: %d operations, %d failed; verdict: %v", r.number, all, all-good, err)
	if err == nil {
		return nil
	}
	kept := r.folder(r.Namespace)
	return errors.Join(fmt.Errorf("%w (kept in %s)", err, kept), r.recorder.Keep(kept, reports, logs))
}

// absent holds when the round's namespace is gone.
func (r *round) absent(ctx context.Context) (string, bool) {
	_, err := r.bench.Kube.CoreV1().Namespaces().Get(ctx, r.Namespace, metav1.GetOptions{})
	return fmt.Sprint(err), apierrors.IsNotFound(err)
}
