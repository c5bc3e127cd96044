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

// Options say how a registry is run.
type Options struct {
	// Dir is the folder of layers. The small manifests are in memory.
	Dir string
	// PKI is the folder of the authority that vouches for the registry where it answers in the place of others.
	PKI string
	// Broken is what the registry denies to have.
	Broken Broken
	// Out gets the log.
	Out io.Writer
}

// headerTimeout bounds how long a client takes to ask.
const headerTimeout = 10 * time.Second

// Serve answers until the context ends. It also is an HTTP proxy, which leads to itself whatever registry is asked for.
func Serve(ctx context.Context, address string, options Options) error {
	if err := os.MkdirAll(options.Dir, 0o755); err != nil { // #nosec G301 -- images are no secret
		return fmt.Errorf("make the registry's folder: %w", err)
	}
	logger := log.New(options.Out, "", log.LstdFlags)
	handler := options.Broken.deny(registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(options.Dir)), registry.Logger(logger)))
	proxy, err := newProxy(options.PKI, handler, logger)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: proxy, ReadHeaderTimeout: headerTimeout, ErrorLog: logger}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for the registry: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	go proxy.serve()
	defer proxy.close()
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
