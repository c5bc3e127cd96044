// Command run soaks the operator on the lab: it makes one cluster after the other, does to each what the package soak chooses,
// and judges what clients saw meanwhile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// wavesOfRound is how many waves one cluster sees: more would be more than can be judged in minutes.
const wavesOfRound = 4

func main() {
	seed := flag.Uint64("seed", 1, "which choices are made")
	minutes := flag.Int("minutes", 60, "how long to go on; the wave under way then is the last one")
	out := flag.String("out", "", "a file that the row of the table is added to")
	flag.Parse()
	if err := run(*seed, time.Duration(*minutes)*time.Minute, *out); err != nil {
		log.Fatal(err)
	}
}

func run(seed uint64, length time.Duration, out string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	b, err := attach(ctx)
	if err != nil {
		return err
	}
	kept := make(chan error, 1)
	keeping, cancel := context.WithCancel(ctx)
	go func() { kept <- b.lab.Keep(keeping, os.Stderr) }()
	total, end := tally{seed: seed}, time.Now().Add(length)
	for number := 0; time.Now().Before(end) && ctx.Err() == nil && total.failure == nil; number++ {
		r := &round{bench: b, seed: seed, number: number, end: end, total: &total}
		total.fail(r.run(ctx))
	}
	cancel()
	total.fail(<-kept)
	fmt.Print("\n" + tableHead + total.row())
	return errors.Join(total.failure, total.write(out))
}

// bench is what all rounds work on.
type bench struct {
	*harness.Env
	lab   *lab.Lab
	store lab.Addon
}

func attach(ctx context.Context) (*bench, error) {
	env, err := harness.Connect()
	if err != nil {
		return nil, err
	}
	nodes, err := lab.Attach()
	if err != nil {
		return nil, err
	}
	store, err := nodes.Addons().Start(ctx, lab.MinIO, os.Stderr)
	if err != nil {
		return nil, err
	}
	return &bench{Env: env, lab: nodes, store: store}, env.Deploy(ctx)
}

// folder is where a round keeps what it has to be judged by.
func (b *bench) folder(name string) string { return filepath.Join(b.Root, "bin", "soak", name) }
