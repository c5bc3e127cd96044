package objectstore

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
)

// azuriteAccount is the name of the one storage account.
const azuriteAccount = "lab"

var azurite = Kind{
	Name: "azurite", Tool: "azurite", Port: 10000, health: "/",
	// It keeps in memory where which object is, and writes that down every few seconds and at its end.
	Grace: 5 * time.Second,
	command: func(s *Store) []string {
		return []string{
			filepath.Join(s.programs, "azurite-blob"), "--blobHost", s.host, "--blobPort", strconv.Itoa(s.Port),
			"--location", s.data(), "--disableTelemetry", "--silent",
			// The account is in the path, whatever the server's name looks like.
			"--disableProductStyleUrl",
			// Clients speak newer versions of the API than this server knows, and use nothing new.
			"--skipApiVersionCheck",
		}
	},
	environment: func(s *Store) []string { return []string{"AZURITE_ACCOUNTS=" + azuriteAccount + ":" + s.keys.Client} },
	client: func(s *Store) map[string]string {
		return map[string]string{
			"AZURE_STORAGE_ACCOUNT": azuriteAccount, "AZURE_STORAGE_KEY": s.keys.Client,
			// These three are what gocloud.dev takes from the environment.
			"AZURE_STORAGE_DOMAIN": s.endpoint(), "AZURE_STORAGE_PROTOCOL": "http",
			"AZURE_STORAGE_IS_LOCAL_EMULATOR": "true",
		}
	},
	prepare: prepareAzurite,
}

func prepareAzurite(ctx context.Context, s *Store) error {
	credential, err := azblob.NewSharedKeyCredential(azuriteAccount, s.keys.Client)
	if err != nil {
		return fmt.Errorf("use the account's key: %w", err)
	}
	transport, err := s.Client()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	options := &azblob.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}}
	client, err := azblob.NewClientWithSharedKeyCredential(s.URL()+"/"+azuriteAccount, credential, options)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	_, err = client.CreateContainer(ctx, Bucket, nil)
	if err != nil && !bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		return fmt.Errorf("make the container: %w", err)
	}
	return nil
}
