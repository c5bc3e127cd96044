package storetest

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// StartGCS runs an imitation of Google Cloud Storage with one bucket until the test ends. The program comes from
// TEST_ASSET_GCS. It takes any token.
func StartGCS(t testing.TB) (blobstore.Target, blobstore.Credentials) {
	t.Helper()
	program := asset(t, "TEST_ASSET_GCS")
	address := FreeAddress(t)
	host, port := split(t, address)
	endpoint := "http://" + address
	run(t, nil, program, "-scheme=http", "-backend=memory", "-host="+host, "-port="+port,
		"-public-host="+address, "-external-url="+endpoint)
	waitReady(t, http.DefaultClient, endpoint+"/storage/v1/b")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint+"/storage/v1/b?project=test",
		strings.NewReader(`{"name":"`+Bucket+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("make the bucket: %s", answer.Status)
	}
	target := blobstore.Target{URL: "gs://" + Bucket, Endpoint: endpoint, AllowTokens: true}
	return target, blobstore.Credentials{"access-token": []byte("any-token-will-do")}
}

// The account that Azurite has by itself, as its documentation says.
const (
	azureAccount = "devstoreaccount1"
	azureKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==" // #nosec G101
)

// StartAzure runs Azurite, which imitates Azure's storage, with one container until the test ends. The program comes from
// TEST_ASSET_AZURE, with azurite-blob beside it.
func StartAzure(t testing.TB) (blobstore.Target, blobstore.Credentials) {
	t.Helper()
	program := filepath.Join(filepath.Dir(asset(t, "TEST_ASSET_AZURE")), "azurite-blob")
	address := FreeAddress(t)
	host, port := split(t, address)
	endpoint := "http://" + address
	// Clients speak newer versions of the API than it knows, and use nothing new.
	run(t, nil, program, "--blobHost="+host, "--blobPort="+port, "--location="+t.TempDir(), "--silent",
		"--skipApiVersionCheck", "--disableTelemetry")
	waitReady(t, http.DefaultClient, endpoint)
	key, err := container.NewSharedKeyCredential(azureAccount, azureKey)
	if err != nil {
		t.Fatal(err)
	}
	client, err := container.NewClientWithSharedKeyCredential(endpoint+"/"+azureAccount+"/"+Bucket, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Create(t.Context(), nil); err != nil {
		t.Fatalf("make the container: %v", err)
	}
	return blobstore.Target{URL: "azblob://" + Bucket, Endpoint: endpoint}, blobstore.Credentials{
		"storage-account": []byte(azureAccount), "storage-key": []byte(azureKey),
	}
}

func split(t testing.TB, address string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}
