package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
)

// Address is where the registry listens: on the lab's bridge, in plain HTTP.
const Address = network.HostIP + ":5000"

// Serve answers until the context ends, but denies what is broken. Layers are kept in a folder, the small manifests in
// memory.
func Serve(ctx context.Context, address, dir string, broken Broken, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- images are no secret
		return fmt.Errorf("make the registry's folder: %w", err)
	}
	logger := log.New(out, "", log.LstdFlags)
	const headerTimeout = 10 * time.Second
	server := &http.Server{
		Handler: broken.deny(registry.New(
			registry.WithBlobHandler(registry.NewDiskBlobHandler(dir)), registry.Logger(logger))),
		ReadHeaderTimeout: headerTimeout,
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for the registry: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	logger.Printf("registry listens on %s", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the registry: %w", err)
	}
	return nil
}

// Ready returns nil once the registry answers.
func Ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+Address+"/v2/", http.NoBody)
	if err != nil {
		return fmt.Errorf("ask the registry: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask the registry: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the registry answers %s", response.Status)
	}
	return nil
}
