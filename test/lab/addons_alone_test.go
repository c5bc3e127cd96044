//go:build lab

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/objectstore"
)

// insideVariable marks the test that runs in a network namespace of its own.
const insideVariable = "LAB_TEST_INSIDE"

// TestAddonsAlone runs all addons without a cluster, in a network namespace of its own with the address that a lab's
// host has, and breaks and heals them in all ways. It needs root.
func TestAddonsAlone(t *testing.T) {
	if os.Getenv(insideVariable) == "" {
		cmd := exec.CommandContext(t.Context(), "unshare", "--net", os.Args[0], "-test.run=^TestAddonsAlone$", "-test.v",
			"-test.timeout=5m")
		cmd.Env = append(os.Environ(), insideVariable+"=1")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, args := range []string{"link set lo up", "addr add " + network.HostIP + "/24 dev lo"} {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	running := &Lab{state: stateDir(t)}
	for _, folder := range []string{running.state.Run(), running.state.Logs()} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for name, use := range map[string]bucket{MinIO: s3Bucket{}, GCS: gcsBucket{}, Azurite: azureBucket{}} {
		t.Run(name, func(t *testing.T) { addonAlone(t, running, name, use) })
	}
}

// bucket is what a client does.
type bucket interface {
	put(ctx context.Context, store *objectstore.Store, key string, data []byte) error
	get(ctx context.Context, store *objectstore.Store, key string) ([]byte, error)
}

func addonAlone(t *testing.T, l *Lab, name string, use bucket) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := l.Addons().Stop(ctx, name); err != nil {
			t.Error(err)
		}
		if err := detachAddons(ctx, l.state); err != nil {
			t.Error(err)
		}
	})
	store := healAlone(t, l, name)
	const size = 24 << 20
	data := bytes.Repeat([]byte("etcd"), size/4)
	if err := use.put(t.Context(), store, "first", data); err != nil {
		t.Fatal(err)
	}
	// An object that a client was told is there must outlive the server.
	if err := l.Addons().Stop(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	store = healAlone(t, l, name)
	const cutAfter = 4 << 20
	for fault, does := range map[string]func() error{
		"stopped": func() error { return l.Addons().Stop(t.Context(), name) },
		"frozen":  func() error { return l.Addons().Freeze(t.Context(), name) },
		"full":    func() error { return l.Addons().Fill(t.Context(), name) },
		"cut off": func() error { return l.Addons().Cut(t.Context(), name, 0) },
		"cut":     func() error { return l.Addons().Cut(t.Context(), name, cutAfter) },
		"sealed":  func() error { return l.Addons().Seal(t.Context(), name) },
		"full and ended": func() error {
			return errors.Join(l.Addons().Fill(t.Context(), name), l.Addons().Stop(t.Context(), name))
		},
	} {
		t.Run(fault, func(t *testing.T) {
			err := does()
			if fault == "sealed" && name != MinIO {
				if !errors.Is(err, objectstore.ErrNoUsers) {
					t.Errorf("sealing a store without users: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			brokenAlone(t, store, fault, use, data)
			healAlone(t, l, name)
			workingAlone(t, store, use, data)
		})
	}
}

// healAlone starts or heals an addon.
func healAlone(t *testing.T, l *Lab, name string) *objectstore.Store {
	t.Helper()
	kind, err := objectstore.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	store, err := l.Addons().open(t.Context(), kind, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := l.Addons().run(ctx, store); err != nil {
		t.Fatal(err)
	}
	return store
}

func brokenAlone(t *testing.T, store *objectstore.Store, fault string, use bucket, data []byte) {
	t.Helper()
	patience := time.Minute
	if fault == "frozen" {
		patience = 3 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	err := use.put(ctx, store, "second", data)
	t.Logf("after %v: %v", time.Since(began).Round(time.Millisecond), err)
	if err == nil {
		t.Error("a store that is broken takes an object")
	}
	if hangs := ctx.Err() != nil; hangs != (fault == "frozen") {
		t.Errorf("a client waits for it in vain: %v", hangs)
	}
	if fault == "sealed" {
		if got, err := use.get(t.Context(), store, "first"); err != nil || !bytes.Equal(got, data) {
			t.Errorf("a sealed store does not give what it has: %d bytes, %v", len(got), err)
		}
		if !strings.Contains(fmt.Sprint(err), "Insufficient permissions") {
			t.Errorf("a sealed store says %v", err)
		}
	}
}

// workingAlone checks that a store has what it had, nothing of what was not completed, and takes more.
func workingAlone(t *testing.T, store *objectstore.Store, use bucket, data []byte) {
	t.Helper()
	if got, err := use.get(t.Context(), store, "first"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("an object from before is %d bytes, %v", len(got), err)
	}
	if got, err := use.get(t.Context(), store, "second"); err == nil {
		t.Errorf("an upload that failed is there, with %d bytes", len(got))
	}
	if err := use.put(t.Context(), store, "third", data); err != nil {
		t.Error(err)
	}
}

type s3Bucket struct{}

func (s3Bucket) put(ctx context.Context, store *objectstore.Store, key string, data []byte) error {
	_, err := mc(ctx, store, data, "pipe", "client/"+objectstore.Bucket+"/"+key)
	return err
}

func (s3Bucket) get(ctx context.Context, store *objectstore.Store, key string) ([]byte, error) {
	return mc(ctx, store, nil, "cat", "client/"+objectstore.Bucket+"/"+key)
}

// mc runs MinIO's command-line client with the keys that clients have.
func mc(ctx context.Context, store *objectstore.Store, input []byte, args ...string) ([]byte, error) {
	env := store.ClientEnvironment()
	server := url.URL{
		Scheme: "https", Host: store.Address(),
		User: url.UserPassword(env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]),
	}
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(store.Command()[0]), "mc"), args...)
	// The authority is where the lab's own client has it.
	folder := filepath.Join(filepath.Dir(filepath.Dir(store.CAFile())), "mc")
	cmd.Env = []string{"MC_HOST_client=" + server.String(), "MC_CONFIG_DIR=" + folder, "HOME=" + folder}
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return out, err
}

type gcsBucket struct{}

func (gcsBucket) put(ctx context.Context, store *objectstore.Store, key string, data []byte) error {
	path := "/upload/storage/v1/b/" + objectstore.Bucket + "/o?uploadType=media&name=" + key
	_, err := gcsDo(ctx, store, http.MethodPost, path, data)
	return err
}

// get reads an object as Google's clients do.
func (gcsBucket) get(ctx context.Context, store *objectstore.Store, key string) ([]byte, error) {
	return gcsDo(ctx, store, http.MethodGet, "/"+objectstore.Bucket+"/"+key, nil)
}

func gcsDo(ctx context.Context, store *objectstore.Store, method, path string, data []byte) ([]byte, error) {
	client, err := store.Client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, method, store.URL()+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s: %s", response.Status, body)
	}
	return body, err
}

type azureBucket struct{}

func (azureBucket) put(ctx context.Context, store *objectstore.Store, key string, data []byte) error {
	client, err := azureClient(store)
	if err != nil {
		return err
	}
	_, err = client.UploadBuffer(ctx, objectstore.Bucket, key, data, nil)
	return err
}

func (azureBucket) get(ctx context.Context, store *objectstore.Store, key string) ([]byte, error) {
	client, err := azureClient(store)
	if err != nil {
		return nil, err
	}
	response, err := client.DownloadStream(ctx, objectstore.Bucket, key, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	return io.ReadAll(response.Body)
}

func azureClient(store *objectstore.Store) (*azblob.Client, error) {
	env := store.ClientEnvironment()
	account := env["AZURE_STORAGE_ACCOUNT"]
	credential, err := azblob.NewSharedKeyCredential(account, env["AZURE_STORAGE_KEY"])
	if err != nil {
		return nil, err
	}
	transport, err := store.Client()
	if err != nil {
		return nil, err
	}
	never := policy.RetryOptions{MaxRetries: -1}
	return azblob.NewClientWithSharedKeyCredential(store.URL()+"/"+account, credential,
		&azblob.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport, Retry: never}})
}
