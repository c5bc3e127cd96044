package blobstore

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/etcdpilot/etcd-operator/internal/storage"
)

// azureDomains are the domains of Azure's clouds, by the names that coreos/etcd-operator knew them by.
var azureDomains = map[string]string{
	"":                       "blob.core.windows.net",
	"AzurePublicCloud":       "blob.core.windows.net",
	"AzureUSGovernmentCloud": "blob.core.usgovcloudapi.net",
	"AzureChinaCloud":        "blob.core.chinacloudapi.cn",
	"AzureGermanCloud":       "blob.core.cloudapi.de",
}

func azureContainer(t Target, bucket string, c Credentials) (*container.Client, error) {
	tr, err := transport(t)
	if err != nil {
		return nil, err
	}
	common := azcore.ClientOptions{Transport: &http.Client{Transport: tr}}
	options := &container.ClientOptions{ClientOptions: common}
	if len(c) == 0 || c.get(storage.KeyAzureSAS) != "" {
		fence := newFence(t, c, false)
		if err := fence.checkEndpoint(); err != nil {
			return nil, err
		}
		// The identity's own tokens are fetched without it, from elsewhere.
		options.Transport = &http.Client{Transport: fence.around(tr)}
		options.InsecureAllowCredentialWithHTTP = t.AllowTokens
	}
	account := c.get(storage.KeyAzureAccount)
	if len(c) == 0 {
		account = os.Getenv("AZURE_STORAGE_ACCOUNT")
	}
	address, err := azureURL(t, account, bucket, c)
	if err != nil {
		return nil, err
	}
	switch {
	case len(c) == 0:
		identity, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: common})
		if err != nil {
			return nil, c.refuse("no Secret with credentials is set, and the pod has no Azure identity", err)
		}
		return container.NewClient(address, identity, options)
	case c.get(storage.KeyAzureSAS) != "":
		return container.NewClientWithNoCredential(address+"?"+strings.TrimPrefix(c.get(storage.KeyAzureSAS), "?"), options)
	case c.get(storage.KeyAzureKey) == "" || account == "":
		return nil, c.missing("Azure")
	}
	key, err := container.NewSharedKeyCredential(account, c.get(storage.KeyAzureKey))
	if err != nil {
		return nil, misconfigured("the Secret's storage-key is not valid base64")
	}
	return container.NewClientWithSharedKeyCredential(address, key, options)
}

// azureURL is where the container is. Azure has the account in the host name; services that imitate it have it in the
// path.
func azureURL(t Target, account, bucket string, c Credentials) (string, error) {
	if t.Endpoint == "" {
		domain, known := azureDomains[c.get(storage.KeyAzureCloud)]
		switch {
		case !known:
			return "", misconfigured(fmt.Sprintf("the Secret's cloud is %q: it must be AzurePublicCloud, AzureUSGovernmentCloud, "+
				"AzureChinaCloud or AzureGermanCloud", c.get(storage.KeyAzureCloud)))
		case account == "" && len(c) == 0:
			return "", misconfigured("the storage account is not known: set storage.endpoint to a URL such as " +
				"https://<account>.blob.core.windows.net, or a Secret with storage-account")
		case account == "":
			return "", c.missing("Azure")
		}
		return "https://" + account + "." + domain + "/" + bucket, nil
	}
	u, err := url.Parse(t.Endpoint)
	if err != nil {
		return "", misconfigured("the storage's endpoint is not a URL")
	}
	if account != "" && !strings.HasPrefix(u.Hostname(), account+".") && strings.Trim(u.Path, "/") != account {
		return u.JoinPath(account, bucket).String(), nil
	}
	return u.JoinPath(bucket).String(), nil
}
