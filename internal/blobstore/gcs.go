package blobstore

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	gcs "cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/option"

	"github.com/etcdpilot/etcd-operator/internal/storage"
)

// gcsScope lets objects be read, written and deleted, and says nothing about who may.
const gcsScope = "https://www.googleapis.com/auth/devstorage.read_write"

// gcsAttempts is how often a request is tried, over some 15 seconds.
const gcsAttempts = 5

func openGCS(ctx context.Context, t Target, bucket string, c Credentials) (*blob.Bucket, error) {
	fence := newFence(t, c, c.borrows())
	if err := fence.checkEndpoint(); err != nil {
		return nil, err
	}
	tr, err := transport(t)
	if err != nil {
		return nil, err
	}
	// Tokens are fetched over the same transport.
	tokens, err := gcsTokens(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: tr}), c)
	if err != nil {
		return nil, err
	}
	client, err := gcp.NewHTTPClient(fence.around(tr), tokens)
	if err != nil {
		return nil, fmt.Errorf("create the Google Cloud Storage client: %w", err)
	}
	options := []option.ClientOption{gcs.WithJSONReads()}
	if t.Endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(t.Endpoint, "/")+"/storage/v1/"))
	}
	b, err := gcsblob.OpenBucket(ctx, client, bucket, &gcsblob.Options{ClientOptions: options})
	if err != nil {
		return nil, err
	}
	var service *gcs.Client
	if b.As(&service) {
		// By default it tries forever.
		service.SetRetry(gcs.WithMaxAttempts(gcsAttempts))
	}
	return b, nil
}

// googleFile is what matters of a credentials.json.
type googleFile struct {
	Type          google.CredentialsType `json:"type"`
	Exchange      string                 `json:"token_url"`
	Impersonation string                 `json:"service_account_impersonation_url"`
}

func (c Credentials) googleFile() (file googleFile, err error) {
	// The parser's errors repeat what they do not understand.
	if json.Unmarshal(c[storage.KeyGCSCredentials], &file) != nil {
		return file, misconfigured("the Secret's credentials.json is not JSON")
	}
	return file, nil
}

// borrows reports whether the tokens are of an identity that the pod has, and not the Secret.
func (c Credentials) borrows() bool {
	if len(c) == 0 || c.get(storage.KeyGCSToken) != "" {
		return false
	}
	file, err := c.googleFile()
	return err == nil && file.Type == google.ExternalAccount
}

func gcsTokens(ctx context.Context, c Credentials) (oauth2.TokenSource, error) {
	switch {
	case len(c) == 0:
		found, err := google.FindDefaultCredentials(ctx, gcsScope)
		if err != nil {
			return nil, c.refuse("no Secret with credentials is set, and the pod has no Google Cloud identity", err)
		}
		return found.TokenSource, nil
	case c.get(storage.KeyGCSToken) != "":
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: c.get(storage.KeyGCSToken)}), nil
	case len(c[storage.KeyGCSCredentials]) == 0:
		return nil, c.missing("Google Cloud Storage")
	}
	file, err := c.googleFile()
	if err != nil {
		return nil, err
	}
	switch file.Type {
	case google.ServiceAccount, google.AuthorizedUser, google.ExternalAccount:
	default:
		return nil, misconfigured(fmt.Sprintf("the Secret's credentials.json is of type %q: "+
			"a key of a service account is needed, or another of service_account, authorized_user, external_account", file.Type))
	}
	if file.Type == google.ExternalAccount {
		if err := checkExchange(file.Exchange, file.Impersonation); err != nil {
			return nil, err
		}
	}
	found, err := google.CredentialsFromJSONWithType(ctx, c[storage.KeyGCSCredentials], file.Type, gcsScope)
	if err != nil {
		return nil, c.refuse("the Secret's credentials.json cannot be used", err)
	}
	return found.TokenSource, nil
}
