// Command demo shows what the operator does, on the cluster that KUBECONFIG names: it creates a cluster from
// coreos/etcd-operator's own example, kills a member, resizes, upgrades, and backs up, with a client at work all the while.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	namespace = "etcd-demo"
	name      = "example-etcd-cluster"
	limit     = 3 * time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// demo is what the steps share.
type demo struct {
	*harness.Env
	cluster *harness.Cluster
	writer  *harness.Writer
	lines   []string
}

func run(ctx context.Context) error {
	env, err := harness.Connect()
	if err != nil {
		return err
	}
	d := &demo{Env: env}
	for _, step := range []step{
		{"deploy the operator (config/default)", d.Deploy},
		{"remove what an earlier demo left", d.clean},
		{"create a cluster of 3 from coreos/etcd-operator's example manifest, to the last member ready", d.create},
		{"start a client that writes and reads every 20 ms through the client Service", d.startClient},
		{"kill a member (its data goes with it), to 3 ready again", d.kill},
		{"grow from 3 to 5", d.resize(5)},
		{"shrink from 5 to 3", d.resize(3)},
		{"upgrade from 3.5 to 3.6, member by member", d.upgrade("3.6.16")},
		{"upgrade to 3.7 (the first such step after 3.5 takes etcd ten seconds more)", d.upgrade("3.7.3")},
		{"go back to 3.6", d.upgrade("3.6.16")},
		{"back it up to a volume, and restore that on trial", d.ifVolumes(d.backup)},
		{"start another cluster from the backup, to the last member ready", d.ifVolumes(d.restore)},
	} {
		if err := d.take(ctx, step); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
	}
	return d.summary(ctx)
}

// step is one thing that the demo shows.
type step struct {
	title string
	do    func(context.Context) error
}

// errSkipped is what a step returns that this cluster cannot show.
var errSkipped = errors.New("this cluster has no default StorageClass")

func (d *demo) take(ctx context.Context, s step) error {
	fmt.Printf("==> %s …\n", s.title)
	start := time.Now()
	err := s.do(ctx)
	if errors.Is(err, errSkipped) {
		fmt.Println("not shown:", err)
		return nil
	}
	if err != nil {
		return err
	}
	return d.record(ctx, s.title, time.Since(start))
}

func (d *demo) record(ctx context.Context, title string, took time.Duration) error {
	line := fmt.Sprintf("%6.1f s  %s", took.Seconds(), title)
	if d.writer != nil {
		report, err := d.writer.Report(ctx)
		if err != nil {
			return err
		}
		line += "\n          the client: " + report.String()
		if report.Lost > 0 {
			return fmt.Errorf("%d acknowledged writes were lost", report.Lost)
		}
	}
	d.lines = append(d.lines, line)
	fmt.Println(line)
	return nil
}

func (d *demo) clean(ctx context.Context) error {
	if err := d.cleanBackup(ctx); err != nil {
		return err
	}
	old := &harness.Cluster{Env: d.Env, Namespace: namespace, Name: name}
	if _, err := old.Get(ctx); err != nil {
		return client.IgnoreNotFound(err)
	}
	w := harness.WriterOf(old)
	return errors.Join(w.Stop(ctx), old.Remove(ctx, limit))
}

// create applies the manifest that coreos/etcd-operator's README made famous, with a version of today.
func (d *demo) create(ctx context.Context) (err error) {
	d.cluster, err = d.NewCluster(ctx, namespace, name, v1beta2.EtcdClusterSpec{Size: 3, Version: "3.5.35"})
	if err != nil {
		return err
	}
	return d.cluster.Healthy(ctx, limit)
}

func (d *demo) startClient(ctx context.Context) (err error) {
	if err = d.cluster.Settled(ctx, limit); err != nil {
		return err
	}
	d.writer, err = d.cluster.NewWriter(ctx, "")
	return err
}

func (d *demo) kill(ctx context.Context) error {
	pods, err := d.cluster.Pods(ctx)
	if err != nil {
		return err
	}
	if err := d.cluster.KillPod(ctx, pods[len(pods)-1].Name); err != nil {
		return err
	}
	return d.cluster.Recovered(ctx, pods[len(pods)-1].UID, limit)
}

func (d *demo) resize(size int32) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := d.cluster.Edit(ctx, func(s *v1beta2.EtcdClusterSpec) { s.Size = size }); err != nil {
			return err
		}
		return d.cluster.Healthy(ctx, limit)
	}
}

func (d *demo) upgrade(version string) func(context.Context) error {
	return func(ctx context.Context) error { return d.cluster.Upgrade(ctx, version, limit) }
}

func (d *demo) summary(ctx context.Context) error {
	object, err := d.cluster.Get(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\nDone at %s. The cluster and its client go on running:\n", metav1.Now().Format(time.TimeOnly))
	for _, line := range d.lines {
		fmt.Println(line)
	}
	fmt.Printf("\n%s\n\nTo play on:\n  export KUBECONFIG=%s\n  export PATH=$PATH:%s\n"+
		"  kubectl -n %s get etcd\n  kubectl -n %s describe etcd %s\n",
		harness.Words(object), d.Kubeconfig, dir(d.Kubectl), namespace, namespace, name)
	return nil
}

func dir(path string) string { return path[:max(0, len(path)-len("/kubectl"))] }
