package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const namespace = "etcd-bench"

func main() {
	runs := flag.Int("runs", 5, "how often each step is measured; 0 leaves the steps out")
	counts := flag.String("clusters", "1,10,30", "how many clusters to create at once, one round each; empty for none")
	idle := flag.Duration("idle", 5*time.Minute, "how long to watch the operator when nothing happens")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *runs, *counts, *idle); err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, runs int, counts string, idle time.Duration) error {
	env, err := harness.Connect()
	if err != nil {
		return err
	}
	if err := env.Deploy(ctx); err != nil {
		return err
	}
	r := &results{took: map[string][]time.Duration{}, upgrades: map[string]upgraded{}, idle: idle}
	defer r.print()
	return errors.Join(lives(ctx, env, r, runs), crowds(ctx, env, r, counts, idle))
}

// crowds measures several clusters together, in rounds of different sizes.
func crowds(ctx context.Context, env *harness.Env, r *results, counts string, idle time.Duration) (err error) {
	if counts == "" {
		return nil
	}
	watched, err := openMeter(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watched.close(context.WithoutCancel(ctx))) }()
	for _, text := range strings.Split(counts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of clusters", text)
		}
		row, err := crowd(ctx, env, watched, n, idle)
		if err != nil {
			return fmt.Errorf("%d clusters at once: %w", n, err)
		}
		r.crowds = append(r.crowds, row)
	}
	return nil
}
