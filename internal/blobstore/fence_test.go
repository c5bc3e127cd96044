package blobstore_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// stolen is in every token of these tests.
const stolen = "c3RvbGVuLXRva2Vu"

// thief is a service that writes down what it is sent.
type thief struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string
	// onwards is where it redirects to, empty for nowhere.
	onwards string
}

func newThief(t *testing.T, secure bool) *thief {
	t.Helper()
	th := &thief{}
	th.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		th.mu.Lock()
		th.sent = append(th.sent, fmt.Sprint(r.URL, r.Header))
		th.mu.Unlock()
		if th.onwards != "" {
			http.Redirect(w, r, th.onwards+r.URL.RequestURI(), http.StatusTemporaryRedirect)
			return
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	if secure {
		th.StartTLS()
	} else {
		th.Start()
	}
	t.Cleanup(th.Close)
	return th
}

func (th *thief) robbed() bool {
	th.mu.Lock()
	defer th.mu.Unlock()
	return strings.Contains(strings.Join(th.sent, "\n"), stolen)
}

func (th *thief) authority() []byte {
	if th.Certificate() == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: th.Certificate().Raw})
}

// asked opens the storage at the thief's and lists it.
func (th *thief) asked(t *testing.T, url string, c blobstore.Credentials, allow bool) string {
	t.Helper()
	target := blobstore.Target{
		URL: url, Endpoint: th.URL, CA: th.authority(), ForcePathStyle: true, AllowTokens: allow,
	}
	b, err := blobstore.Open(t.Context(), target, c)
	if err == nil {
		defer func() { _ = b.Close() }()
		err = listing(b)
	}
	if err != nil && strings.Contains(err.Error(), stolen) {
		t.Errorf("the token is in %v", err)
	}
	return reasonOf(err)
}

var tokens = map[string]blobstore.Credentials{
	"gs://bucket":     {"access-token": []byte(stolen)},
	"azblob://bucket": {"sas-token": []byte("sv=2024-01-01&sig=" + stolen), "storage-account": []byte("account")},
	"s3://bucket": {
		"access-key-id": []byte("key"), "secret-access-key": []byte("0123456789"), "session-token": []byte(stolen),
	},
}

// TestTokensInPlainText wants no token of a Secret to be sent over plain HTTP, unless the spec says so.
func TestTokensInPlainText(t *testing.T) {
	for url, c := range tokens {
		refused, allowed, secure := newThief(t, false), newThief(t, false), newThief(t, true)
		if reason := refused.asked(t, url, c, false); reason != v1beta2.ReasonInsecureEndpoint || len(refused.sent) > 0 {
			t.Errorf("%s: got %q, and it was sent %v", url, reason, refused.sent)
		}
		if allowed.asked(t, url, c, true); !allowed.robbed() {
			t.Errorf("%s: allowed, and not sent", url)
		}
		if secure.asked(t, url, c, false); !secure.robbed() {
			t.Errorf("%s: a Secret is for the endpoint beside it, and is not sent over TLS", url)
		}
	}
	signed := newThief(t, false)
	keys := blobstore.Credentials{"access-key-id": []byte("key"), "secret-access-key": []byte(stolen)}
	if signed.asked(t, "s3://bucket", keys, false); len(signed.sent) == 0 || signed.robbed() {
		t.Errorf("keys only sign, and may be used over plain HTTP: %v", signed.sent)
	}
}

// TestTokensOfThePod wants those of the pod's own identity to go to its cloud alone, unless the spec says so.
func TestTokensOfThePod(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "0123456789")
	t.Setenv("AWS_SESSION_TOKEN", stolen)
	for url := range tokens {
		for _, secure := range []bool{true, false} {
			th := newThief(t, secure)
			if reason := th.asked(t, url, nil, false); reason != v1beta2.ReasonInsecureEndpoint || len(th.sent) > 0 {
				t.Errorf("%s: got %q, and it was sent %v", url, reason, th.sent)
			}
		}
	}
	th := newThief(t, true)
	if th.asked(t, "s3://bucket", nil, true); !th.robbed() {
		t.Error("allowed, and not sent")
	}
}

// TestTokensRedirected has the endpoint that a token is for redirect to another one, in plain text or not.
func TestTokensRedirected(t *testing.T) {
	for _, url := range []string{"gs://bucket", "s3://bucket"} {
		for _, secure := range []bool{true, false} {
			other, endpoint := newThief(t, secure), newThief(t, true)
			endpoint.onwards = other.URL
			reason := endpoint.asked(t, url, tokens[url], false)
			if reason != v1beta2.ReasonInsecureEndpoint || len(other.sent) > 0 || !endpoint.robbed() {
				t.Errorf("%s: got %q, and it was sent %v", url, reason, other.sent)
			}
		}
	}
}
