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
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// options are the command line.
type options struct {
	counts []int
	idle   time.Duration
	silent []int
	probes int
	// perNamespace is how many clusters share one.
	perNamespace int
	// atOnce is how many clusters to create at once, 0 for all.
	atOnce int
	// tls has the clusters use TLS, with certificates by the operator.
	tls bool
	// autopilot are the modes of Auto Pilot to compare, none if it is to be what the clusters have.
	autopilot []string
	// scrape is how often to scrape the operator's metrics after it was left alone, 0 for not at all.
	scrape time.Duration
	// operator is the path of the program under test, and args what it is given besides.
	operator string
	args     []string
	// profiles is a folder for what the operator serves under /debug/pprof, none if empty.
	profiles, pprof string
}

func main() {
	counts := flag.String("clusters", "1,10,100,1000", "how many clusters, one run each")
	silent := flag.String("silent", "", "of the last run's clusters, how many to freeze, one step after the other")
	autopilot := flag.String("autopilot", "", "modes of Auto Pilot, such as Off,On: the operator is started anew with each before it is left "+
		"alone; with the environment variable AUTOPILOT_PACE=n, members are asked for their metrics n times as often")
	args := flag.String("operator-args", "", "more arguments for the operator")
	o := options{operator: os.Getenv("OPERATOR")}
	flag.DurationVar(&o.idle, "idle", 2*time.Minute, "how long to watch the operator when nothing happens")
	flag.IntVar(&o.probes, "probes", 10, "how many clusters to create, one by one, beside the frozen ones")
	flag.IntVar(&o.perNamespace, "per-namespace", 10, "how many clusters share a namespace")
	flag.IntVar(&o.atOnce, "at-once", 0, "how many clusters to create at once, before the next ones: all if 0, which takes a machine on which "+
		"all members start in time")
	flag.BoolVar(&o.tls, "tls", false, "clusters with spec.tls.managed")
	flag.DurationVar(&o.scrape, "scrape", 0, "scrape the operator's metrics that often for as long as -idle, which is watched without; they are "+
		"served as by default, so to authenticate the scraper are API writes")
	flag.StringVar(&o.pprof, "pprof", "", "where the operator is to serve profiles, such as 127.0.0.1:6060; they are saved after each phase")
	flag.StringVar(&o.profiles, "profiles", os.TempDir(), "folder for profiles")
	flag.Parse()
	o.args, o.autopilot = strings.Fields(*args), list(*autopilot)
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := errors.Join(numbers(*counts, &o.counts), numbers(*silent, &o.silent))
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// list are the words between commas.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

func numbers(text string, into *[]int) error {
	for _, text := range list(text) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of clusters", text)
		}
		*into = append(*into, n)
	}
	return nil
}

func run(ctx context.Context, o options) error {
	if o.operator == "" {
		return errors.New("OPERATOR is not set: it is the path of the operator's program")
	}
	r := &report{idle: o.idle}
	defer r.print()
	for i, n := range o.counts {
		var silent []int
		if i == len(o.counts)-1 {
			silent = o.silent
		}
		if err := one(ctx, o, n, silent, r); err != nil {
			return fmt.Errorf("%d clusters: %w", n, err)
		}
	}
	return nil
}

// one is a run with an API server and an operator of its own.
func one(ctx context.Context, o options, n int, silent []int, r *report) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := startPlane(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	text, err := realMetrics(ctx, p.dir)
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, o.tls, newExposition(text))
	if err != nil {
		return err
	}
	defer w.stop()
	k, err := startKubelet(ctx, p.admin, w)
	if err != nil {
		return err
	}
	defer func() { cancel(); k.wait() }() // while the API server is still there
	op, err := startOperator(ctx, o, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, op.stop()) }()
	m := &measurement{kubelet: k, operator: op, world: w, options: o, n: n}
	if err := m.warmUp(ctx); err != nil {
		return err
	}
	if err := m.create(ctx, r); err != nil {
		return err
	}
	if err := m.idle(ctx, r); err != nil {
		return err
	}
	if err := m.scrape(ctx, r); err != nil {
		return err
	}
	for _, s := range silent {
		if err := m.freeze(ctx, min(s, n), r); err != nil {
			return err
		}
	}
	return nil
}
