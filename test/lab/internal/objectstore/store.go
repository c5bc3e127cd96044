package objectstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
)

// Bucket is the name of the bucket, or container, that each store has.
const Bucket = "backups"

// Kind is what differs between stores.
type Kind struct {
	// Name of the store.
	Name string
	// Tool below hack/tools that it is built from.
	Tool string
	// Port that it listens on.
	Port int
	// Grace is the time that the server needs, once told to end, to write down what it has told clients that it has; 0
	// for one that writes first.
	Grace time.Duration

	// health is the path at which it answers once it is ready.
	health string
	// command is the server's command line; its environment holds what is not for everyone's eyes.
	command     func(*Store) []string
	environment func(*Store) []string
	// client is the environment of a client.
	client func(*Store) map[string]string
	// arrange puts certificates where the server looks for them; nil for one without TLS.
	arrange func(*Store) error
	// prepare makes the bucket, unless it is there, and lets clients read and write it.
	prepare func(context.Context, *Store) error
	// seal lets clients only read the bucket; nil for a store that knows no users.
	seal func(context.Context, *Store) error
}

var kinds = map[string]Kind{"minio": minio, "gcs": gcs, "azurite": azurite}

// Names lists all kinds.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }

// Find returns the kind of a name, or an error that lists all.
func Find(name string) (Kind, error) {
	kind, found := kinds[name]
	if !found {
		return Kind{}, fmt.Errorf("no addon is called %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return kind, nil
}

// Store is one object store of a lab.
type Store struct {
	Kind

	dir, host, programs string
	keys                keys
	certs               *pki.Authority
}

// Open returns the store of a kind that keeps all that it has in a folder, and makes the keys and certificates that are
// missing there. It listens on an address of this machine; programs is the folder of its built tool.
func Open(kind Kind, dir, host, programs string) (*Store, error) {
	// Containers have no business there, nor has anyone else: it holds credentials.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of store %s: %w", kind.Name, err)
	}
	store := &Store{Kind: kind, dir: dir, host: host, programs: programs}
	var err error
	if store.keys, err = ensureKeys(filepath.Join(dir, "keys.json")); err != nil {
		return nil, err
	}
	if kind.arrange == nil {
		return store, nil
	}
	if store.certs, err = pki.Ensure(filepath.Join(dir, "pki")); err != nil {
		return nil, err
	}
	subject := pki.Subject{CommonName: kind.Name, Hosts: []string{store.domain(), host}}
	if err := store.certs.EnsureCert(kind.Name, subject); err != nil {
		return nil, err
	}
	return store, kind.arrange(store)
}

// Disk is the folder in a store's own where the file system with its objects is to be mounted.
func Disk(dir string) string { return filepath.Join(dir, "disk") }

// Image is the file in a store's folder for what is on Disk.
func Image(dir string) string { return filepath.Join(dir, "disk.img") }

// data holds the objects. It is below Disk, so that a store does not mistake what else is there for a bucket.
func (s *Store) data() string { return filepath.Join(Disk(s.dir), "data") }

// Command is the server's command line.
func (s *Store) Command() []string { return s.command(s) }

// Environment is what the server needs in its environment, as NAME=value. It holds credentials.
func (s *Store) Environment() []string { return s.environment(s) }

// ClientEnvironment is what clients need in their environment: credentials, and the endpoint where the software
// development kits of that cloud take it from there.
func (s *Store) ClientEnvironment() map[string]string { return s.client(s) }

// CAFile holds the certificate of the authority to trust; it is empty for a store without TLS.
func (s *Store) CAFile() string {
	if s.certs == nil {
		return ""
	}
	return s.certs.Cert("ca")
}

// Address is where this machine reaches the store, as HOST:PORT.
func (s *Store) Address() string { return net.JoinHostPort(s.host, strconv.Itoa(s.Port)) }

// domain is the DNS name that pods know the store by.
func (s *Store) domain() string { return s.Name + "." + addons.ServerNamespace + ".svc" }

// endpoint is the name and port that pods know the store by.
func (s *Store) endpoint() string { return net.JoinHostPort(s.domain(), strconv.Itoa(s.Port)) }

// URL is where pods reach the store.
func (s *Store) URL() string {
	if s.certs != nil {
		return "https://" + s.endpoint()
	}
	return "http://" + s.endpoint()
}

// Client returns a client that reaches the store from this machine under the name that pods know, and trusts its
// authority.
func (s *Store) Client() (*http.Client, error) {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Address())
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if file := s.CAFile(); file != "" {
		data, err := os.ReadFile(file) // #nosec G304 -- below the lab's state folder
		if err != nil {
			return nil, fmt.Errorf("read the authority of store %s: %w", s.Name, err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%s holds no certificate", file)
		}
	}
	return &http.Client{Transport: transport}, nil
}

// Ready returns nil once the server answers.
func (s *Store) Ready(ctx context.Context) error {
	response, err := s.send(ctx, http.MethodGet, s.health, "")
	if err != nil {
		return err
	}
	// Whatever it thinks of the request, it has understood it.
	if response >= http.StatusInternalServerError {
		return fmt.Errorf("store %s answers with status %d", s.Name, response)
	}
	return nil
}

// send sends one small request, and returns the status of the answer.
func (s *Store) send(ctx context.Context, method, path, body string) (status int, err error) {
	client, err := s.Client()
	if err != nil {
		return 0, err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("ask store %s: %w", s.Name, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("ask store %s: %w", s.Name, err)
	}
	return response.StatusCode, response.Body.Close()
}

// Prepare makes the bucket of a store that is ready, and lets clients read and write it. It may be called again.
func (s *Store) Prepare(ctx context.Context) error {
	if err := s.prepare(ctx, s); err != nil {
		return fmt.Errorf("prepare store %s: %w", s.Name, err)
	}
	return nil
}

// ErrNoUsers is returned by a store that cannot tell who may do what.
var ErrNoUsers = errors.New("this store knows no users: only minio can refuse writes")

// Seal lets clients read the bucket, but no longer write or delete anything in it. Prepare undoes it.
func (s *Store) Seal(ctx context.Context) error {
	if s.seal == nil {
		return fmt.Errorf("seal store %s: %w", s.Name, ErrNoUsers)
	}
	return s.seal(ctx, s)
}
