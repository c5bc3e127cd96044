package objectstore

import (
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

// open makes a store whose server no one starts.
func open(t *testing.T, name, dir string) *Store {
	t.Helper()
	kind, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	store, err := Open(kind, dir, "127.0.0.1", "/programs")
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestFindUnknown(t *testing.T) {
	_, err := Find("swift")
	for _, name := range Names() {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Find of an unknown store does not name %s: %v", name, err)
		}
	}
}

func TestToolsArePinned(t *testing.T) {
	builder, err := build.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if tool, err := builder.Pinned(open(t, name, t.TempDir()).Tool); err != nil || tool.Version == "" {
			t.Errorf("store %s is pinned at %q, %v", name, tool.Version, err)
		}
	}
}

func TestKeysStayAndAreSecret(t *testing.T) {
	for _, name := range Names() {
		dir := t.TempDir()
		store := open(t, name, dir)
		if again := open(t, name, dir); again.keys != store.keys {
			t.Errorf("%s: a store opened again has other keys", name)
		}
		if other := open(t, name, t.TempDir()); other.keys == store.keys {
			t.Errorf("%s: two stores have the same keys", name)
		}
		info, err := os.Stat(filepath.Join(dir, "keys.json"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: the keys are in %+v, %v", name, info, err)
		}
		command := strings.Join(store.Command(), " ")
		if strings.Contains(command, store.keys.Admin) || strings.Contains(command, store.keys.Client) {
			t.Errorf("%s: everybody sees a key among the arguments: %s", name, command)
		}
	}
}

func TestDamagedKeysAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "keys.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(gcs, dir, "127.0.0.1", "/programs"); err == nil || !strings.Contains(err.Error(), "keys.json") {
		t.Errorf("Open with damaged keys: %v", err)
	}
}

// TestKeysFit checks the limits of both: MinIO takes at most 40 characters, Azure's keys are base64.
func TestKeysFit(t *testing.T) {
	const longest = 40
	key := newKey()
	if _, err := base64.StdEncoding.DecodeString(key); err != nil || len(key) > longest {
		t.Errorf("key of %d characters: %v", len(key), err)
	}
}

func TestClientsGetTheSameKeys(t *testing.T) {
	store := open(t, "minio", t.TempDir())
	env := store.ClientEnvironment()
	if env["AWS_SECRET_ACCESS_KEY"] != store.keys.Client || env["AWS_ENDPOINT_URL_S3"] != "https://minio.storage.svc:9000" {
		t.Errorf("clients of MinIO get %v", env)
	}
	if slices.ContainsFunc(store.Environment(), func(pair string) bool { return strings.Contains(pair, store.keys.Client) }) {
		t.Error("the client's key is the administrator's")
	}
	store = open(t, "azurite", t.TempDir())
	if server := "AZURITE_ACCOUNTS=lab:" + store.ClientEnvironment()["AZURE_STORAGE_KEY"]; !slices.Contains(store.Environment(), server) {
		t.Error("the server does not know the client's key")
	}
}

// TestClientTrustsOnlyTheStore speaks to a server with the store's certificate under the name that pods use.
func TestClientTrustsOnlyTheStore(t *testing.T) {
	store := open(t, "minio", t.TempDir())
	own, err := tls.LoadX509KeyPair(filepath.Join(store.minioCerts(), "public.crt"), filepath.Join(store.minioCerts(), "private.key"))
	if err != nil {
		t.Fatal(err)
	}
	status := http.StatusOK
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if request.Host != store.endpoint() || request.URL.Path != store.health {
			t.Errorf("it is asked for %s at %s", request.URL, request.Host)
		}
		writer.WriteHeader(status)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	address, ok := server.Listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("it listens on %v", server.Listener.Addr())
	}
	store.Port = address.Port
	if err := store.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	status = http.StatusServiceUnavailable
	if err := store.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a server that is not ready: %v", err)
	}
	other := open(t, "minio", t.TempDir())
	other.Port = address.Port
	if err := other.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a store trusts another's certificate: %v", err)
	}
}
