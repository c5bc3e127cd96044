package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/disk"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/objectstore"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// Names of addons: servers beside the cluster, as those of a cloud are, that pods reach through a Service.
const (
	// MinIO speaks S3, over TLS with a certificate authority of its own, and knows users.
	MinIO = "minio"
	// GCS is fake-gcs-server, which speaks Google Cloud Storage over plain HTTP and asks for no credentials.
	GCS = "gcs"
	// Azurite speaks Azure's blob storage over plain HTTP.
	Azurite = "azurite"
)

// addonBytes is the size of the disk that each addon keeps its objects on: enough for what tests write.
const addonBytes = 1 << 30

// addonTimeout bounds the start of an addon that is built.
const addonTimeout = 2 * time.Minute

// Addon is a running object store.
type Addon struct {
	// Name of the addon.
	Name string
	// URL is where pods reach it: a scheme, the DNS name of a Service, a port.
	URL string
	// Bucket is the name of a bucket that is there.
	Bucket string
	// CAFile holds the PEM certificate of the authority that signed the server's. It is empty for plain HTTP.
	CAFile string
	// Env is the environment that the cloud's development kits and gocloud.dev know, with credentials and, but for the
	// authority, all that is needed to reach the store from a pod.
	Env map[string]string

	store *objectstore.Store
}

// Client returns a client for URL that works on this machine, which does not know the cluster's names, and that trusts
// the store's authority.
func (a Addon) Client() (*http.Client, error) { return a.store.Client() }

// Addons are object stores beside the cluster, and what goes wrong with them.
type Addons struct{ lab *Lab }

// Addons returns the addons of the lab.
func (l *Lab) Addons() Addons { return Addons{l} }

// Start starts an addon, built now if it never was, and undoes whatever was done to it. An addon that was stopped
// has the objects that it had. Down ends it and removes them. Out gets lines that tell of progress; nil discards them.
// An addon must not be started twice at the same time.
func (a Addons) Start(ctx context.Context, name string, out io.Writer) (Addon, error) {
	kind, err := objectstore.Find(name)
	if err != nil {
		return Addon{}, err
	}
	store, err := a.open(ctx, kind, out)
	if err != nil {
		return Addon{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, addonTimeout, fmt.Errorf("not ready within %v", addonTimeout))
	defer cancel()
	if err := a.run(ctx, store); err != nil {
		return Addon{}, err
	}
	service, err := addons.Server(kind.Name, kind.Port)
	if err != nil {
		return Addon{}, err
	}
	if _, err := a.lab.kubectl(ctx, service, "apply", "--server-side", "-f", "-"); err != nil {
		return Addon{}, fmt.Errorf("make the Service of addon %s: %w", kind.Name, err)
	}
	return Addon{
		Name: kind.Name, URL: store.URL(), Bucket: objectstore.Bucket, CAFile: store.CAFile(),
		Env: store.ClientEnvironment(), store: store,
	}, nil
}

// Heal undoes whatever was done to an addon, and starts it if it does not run.
func (a Addons) Heal(ctx context.Context, name string) error {
	_, err := a.Start(ctx, name, nil)
	return err
}

// open returns an addon whose server is built.
func (a Addons) open(ctx context.Context, kind objectstore.Kind, out io.Writer) (*objectstore.Store, error) {
	builder, err := builder(out)
	if err != nil {
		return nil, err
	}
	tool, err := builder.Ensure(ctx, kind.Tool)
	if err != nil {
		return nil, err
	}
	return objectstore.Open(kind, a.lab.state.Addon(kind.Name), network.HostIP, tool.Dir)
}

// run starts an addon's server if it does not run, undoes what was done to it, and waits until it has a bucket.
func (a Addons) run(ctx context.Context, store *objectstore.Store) error {
	if err := network.Mend(ctx, store.Name); err != nil {
		return err
	}
	record, err := a.ensure(ctx, store)
	if err != nil {
		return err
	}
	if err := record.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	folder := objectstore.Disk(a.lab.state.Addon(store.Name))
	mounted := func(context.Context) error {
		if found, err := disk.IsMounted(record.PID, folder); err != nil || !found {
			return errors.Join(err, errors.New("its disk is not mounted yet"))
		}
		return nil
	}
	if err := record.WaitReady(ctx, mounted); err != nil {
		return err
	}
	// A server with a full disk may never become ready.
	if err := disk.Free(filepath.Join(disk.Root(record.PID), folder)); err != nil {
		return err
	}
	if err := record.WaitReady(ctx, store.Ready); err != nil {
		return err
	}
	// One whose disk was full takes nothing yet, until it has looked at the disk again.
	return record.WaitReady(ctx, store.Prepare)
}

// ensure starts an addon's server on a disk of its own, which it alone has mounted, or finds it running.
func (a Addons) ensure(ctx context.Context, store *objectstore.Store) (process.Record, error) {
	record, err := process.Read(a.lab.recordFile(store.Name))
	if err == nil && record.Alive() {
		return record, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return process.Record{}, err
	}
	dir := a.lab.state.Addon(store.Name)
	folder, image := objectstore.Disk(dir), objectstore.Image(dir)
	if err := makeAddonDisk(ctx, folder, image); err != nil {
		return process.Record{}, fmt.Errorf("make the disk of addon %s: %w", store.Name, err)
	}
	// Two devices for one file system would ruin it.
	err = process.Poll(ctx, func(context.Context) error { return disk.Detached(image) })
	if err != nil {
		return process.Record{}, err
	}
	spec := a.lab.hostSpec(store.Name, store.Command()...)
	spec.Enter, spec.Env = disk.Mounted(image, folder), store.Environment()
	return process.Start(spec)
}

func makeAddonDisk(ctx context.Context, folder, image string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(image); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Renamed into place, so that it is never half made.
	fresh := image + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := disk.Format(ctx, fresh, addonBytes); err != nil {
		return err
	}
	return os.Rename(fresh, image)
}

// restart starts the addons that should run.
func (a Addons) restart(ctx context.Context, out io.Writer) error {
	for _, name := range objectstore.Names() {
		if _, err := a.process(name); errors.Is(err, ErrNoAddon) {
			continue
		} else if err != nil {
			return err
		}
		if _, err := a.Start(ctx, name, out); err != nil {
			return err
		}
	}
	return nil
}

// detachAddons waits until the kernel has let go of the disks of addons that have ended.
func detachAddons(ctx context.Context, dir state.Dir) error {
	return process.Poll(ctx, func(context.Context) error {
		for _, name := range objectstore.Names() {
			if err := disk.Detached(objectstore.Image(dir.Addon(name))); err != nil {
				return err
			}
		}
		return nil
	})
}
