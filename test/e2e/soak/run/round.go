package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/soak"
	"github.com/etcdpilot/etcd-operator/test/e2e/soak/record"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

const (
	// recovery is how long a cluster may take to be healthy after the last fault.
	recovery = 2 * time.Minute
	// limit is how long anything else may take that is awaited.
	limit = 5 * time.Minute
	// oldVersion is the operator's default, newVersion the newest that it is tested with.
	oldVersion, newVersion = "3.6.16", "3.7.3"
)

// round is one cluster, from its first member to the verdict.
type round struct {
	*bench
	*harness.Cluster
	seed   uint64
	number int
	end    time.Time
	total  *tally

	chosen   soak.Cluster
	world    soak.World
	recorder *record.Recorder
	logs     record.Logs
	disks    []string
	// done is what the wave under way has done so far.
	done []soak.Action
	// backups are the names of those that count, and restored is that of the one of which a cluster is being made.
	backups  []string
	restored string
	// begun is how many backups were, with those that were given up, and copies how many clusters were made from one.
	begun, copies int
}

func (r *round) run(ctx context.Context) (err error) {
	r.chosen = soak.NextCluster(r.seed, r.number)
	r.world = soak.NewWorld(r.chosen.Storage, r.chosen.Size, len(r.lab.Nodes()), r.chosen.Newest)
	log.Printf("round %d: %s", r.number, r.chosen)
	defer func() {
		if end := context.WithoutCancel(ctx); err == nil {
			err = r.clean(end)
		} else {
			err = errors.Join(err, r.dump(end))
		}
	}()
	if err := r.create(ctx); err != nil {
		return err
	}
	stop, err := r.watch(ctx)
	if err != nil {
		return err
	}
	for wave := 1; wave <= wavesOfRound && err == nil && time.Now().Before(r.end); wave++ {
		err = r.wave(ctx, wave)
	}
	err = errors.Join(err, stop())
	judged := r.judge(ctx)
	if errors.Is(judged, record.ErrUnknown) {
		log.Print(judged)
		r.total.undecided++
		return err
	}
	return errors.Join(err, judged)
}

func (r *round) create(ctx context.Context) error {
	r.Cluster = &harness.Cluster{
		Env: r.bench.Env, Name: fmt.Sprintf("soak-%d", r.number), Namespace: fmt.Sprintf("soak-%d-%d", r.seed, r.number),
	}
	// A run that failed has left it.
	if err := r.forget(ctx); err != nil {
		return err
	}
	if err := r.supply(ctx); err != nil {
		return err
	}
	if _, err := r.bench.NewCluster(ctx, r.Namespace, r.Name, r.spec()); err != nil {
		return err
	}
	if err := r.secrets(ctx); err != nil {
		return err
	}
	if err := r.Healthy(ctx, limit); err != nil {
		return err
	}
	return r.Settled(ctx, limit)
}

func (r *round) spec() v1beta2.EtcdClusterSpec {
	size := int32(r.chosen.Size) //nolint:gosec // at most 5
	spec := v1beta2.EtcdClusterSpec{Size: size, Version: oldVersion}
	if r.chosen.Newest {
		spec.Version = newVersion
	}
	if r.chosen.Storage == soak.EmptyDirs {
		return spec
	}
	spec.Pod = onClaims()
	if class := lab.DiskClass; r.chosen.Storage == soak.Disks {
		spec.Pod.PersistentVolumeClaimSpec.StorageClassName = &class
	}
	return spec
}

// onClaims has members keep their data on volumes of the default class.
func onClaims() *v1beta2.PodPolicy {
	return &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(diskBytes, resource.BinarySI)},
		},
	}}
}

// wave does what was chosen, undoes it, and waits until the cluster is healthy.
func (r *round) wave(ctx context.Context, number int) error {
	wave := soak.NextWave(r.seed, r.number, number, r.world)
	log.Printf("round %d, wave %d: %v for %s", r.number, number, wave.Actions, wave.Hold.Round(time.Second))
	if err := r.supply(ctx); err != nil {
		return err
	}
	var undone []undo
	var failed error
	r.done = nil
	for _, a := range wave.Actions {
		if failed = hold(ctx, a.Gap); failed != nil {
			break
		}
		if undo := r.do(ctx, a); undo != nil {
			undone = append(undone, undo)
		}
	}
	if failed == nil {
		failed = hold(ctx, wave.Hold)
	}
	// The last one first: nothing can be asked for before the API server is back.
	for i := len(undone) - 1; i >= 0; i-- {
		failed = errors.Join(failed, undone[i](context.WithoutCancel(ctx)))
	}
	if failed != nil {
		return failed
	}
	r.world = r.world.After(wave)
	return r.recover(ctx)
}

// recover waits until the cluster is healthy, and all that was asked for is done.
func (r *round) recover(ctx context.Context) error {
	mended := time.Now()
	if err := r.Healthy(ctx, recovery); err != nil {
		return fmt.Errorf("after the last fault: %w", err)
	}
	if err := harness.Await(ctx, "all members serve", recovery-time.Since(mended), r.serves); err != nil {
		return fmt.Errorf("after the last fault: %w", err)
	}
	r.total.slowest = max(r.total.slowest, time.Since(mended))
	log.Printf("healthy %.1f s after the last fault", time.Since(mended).Seconds())
	if err := r.Updated(ctx, limit); err != nil {
		return err
	}
	if err := r.Settled(ctx, limit); err != nil {
		return err
	}
	return r.stored(ctx)
}

func hold(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// dump writes down what is gone before long, such as the operator's log. All else stays as it is, to be looked at.
func (r *round) dump(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return r.bench.Run(ctx, "cluster-info", "dump", "--namespaces="+r.Namespace+","+harness.OperatorNamespace,
		"--output-directory="+r.folder(r.Namespace+"-dump"))
}

// clean removes all that the round made, but for what is in the bucket.
func (r *round) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := errors.Join(r.forget(ctx), os.RemoveAll(r.logs.Folder))
	for _, disk := range r.disks {
		err = errors.Join(err, r.lab.Disks().Remove(ctx, disk))
	}
	return err
}

// forget deletes the round's namespace, if there is one, and waits until it is gone.
func (r *round) forget(ctx context.Context) error {
	err := r.bench.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace}})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return harness.Await(ctx, "the namespace is gone", limit, r.absent)
}
