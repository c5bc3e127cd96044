package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const gib = 1 << 30

// options are the command line and the environment.
type options struct {
	// sizes are in bytes, the smallest first.
	sizes []int64
	runs  int
	// agent, etcd and minio are the paths of programs. Etcd's own tools and MinIO's are beside theirs.
	agent, etcd, minio string
}

func main() {
	o := options{
		agent: os.Getenv("AGENT"), etcd: os.Getenv("TEST_ASSET_ETCD"), minio: os.Getenv("TEST_ASSET_MINIO"),
	}
	list := flag.String("sizes", "0.1,1,4", "sizes of the database, in GiB")
	flag.IntVar(&o.runs, "runs", 5, "how often everything is done for each size")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := o.complete(*list)
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "backup:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// complete reads the sizes and tells what is missing.
func (o *options) complete(list string) error {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n <= 0 || n > 64 {
			return fmt.Errorf("-sizes: %q is no size in GiB", text)
		}
		o.sizes = append(o.sizes, int64(n*gib))
	}
	slices.Sort(o.sizes) // the database only grows
	switch {
	case o.runs < 1:
		return errors.New("-runs: it takes at least one")
	case o.agent == "" || o.etcd == "" || o.minio == "":
		return errors.New("AGENT, TEST_ASSET_ETCD and TEST_ASSET_MINIO must be paths of programs: run `make bench-backup`")
	case os.Geteuid() != 0:
		return errors.New("run it as root: it needs chroot, and drops the page cache")
	}
	return nil
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "bench-backup-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := room(dir, slices.Max(o.sizes)); err != nil {
		return err
	}
	b := &bench{options: o, dir: dir, report: &report{}}
	defer b.report.printMemory()
	if b.minio, err = startMinIO(ctx, o.minio, filepath.Join(dir, "minio")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.minio.stop()) }()
	if b.pod, err = newPod(filepath.Join(dir, "pod"), o.agent); err != nil {
		return err
	}
	for _, size := range o.sizes {
		if err := b.measure(ctx, size); err != nil {
			return fmt.Errorf("%s: %w", sizeName(size), err)
		}
	}
	return nil
}

// room makes sure that the disk has room for the etcd, an object, that object fetched, and restored.
func room(dir string, size int64) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	// The last fifth of a disk is never used to wait for a slow storage.
	kept := int64(disk.Blocks) * disk.Bsize / 5                    //nolint:gosec // no disk is that large
	need, free := kept+4*size+2*gib, int64(disk.Bavail)*disk.Bsize //nolint:gosec // as above
	if free < need {
		return fmt.Errorf("%s has %d GiB free, and %s takes %d, with a fifth of the disk left over: set TMPDIR, or -sizes",
			dir, free/gib, sizeName(size), need/gib)
	}
	return nil
}
