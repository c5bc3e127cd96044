package blobstore_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// TestFilesOfThePod wants no Secret to have a file of the pod, as that with its own identity, sent to whom the Secret names,
// whatever the spec says: who may read the Secret may have no right to the identity.
func TestFilesOfThePod(t *testing.T) {
	identity := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(identity, []byte(stolen), 0o600); err != nil {
		t.Fatal(err)
	}
	var robbed atomic.Bool
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), stolen) {
			robbed.Store(true)
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(thief.Close)
	external := func(more string) blobstore.Credentials {
		return blobstore.Credentials{"credentials.json": []byte(`{"type":"external_account",` +
			`"audience":"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",` +
			`"subject_token_type":"urn:ietf:params:oauth:token-type:jwt",` + more +
			`,"credential_source":{"file":"` + identity + `"}}`)}
	}
	profile := func(more string) blobstore.Credentials {
		return blobstore.Credentials{"credentials": []byte("[default]\n"), "config": []byte(
			"[default]\nrole_arn=arn:aws:iam::1:role/r\nweb_identity_token_file=" + identity + "\n" + more)}
	}
	for name, c := range map[string]struct {
		url  string
		keys blobstore.Credentials
	}{
		"token_url":     {"gs://bucket", external(`"token_url":"` + thief.URL + `"`)},
		"look-alike":    {"gs://bucket", external(`"token_url":"https://sts.googleapis.com.localhost/v1/token"`)},
		"userinfo":      {"gs://bucket", external(`"token_url":"https://sts.googleapis.com@localhost/v1/token"`)},
		"plain":         {"gs://bucket", external(`"token_url":"http://sts.googleapis.com/v1/token"`)},
		"impersonation": {"gs://bucket", external(`"service_account_impersonation_url":"` + thief.URL + `"`)},
		"endpoint_url":  {"s3://bucket", profile("endpoint_url=" + thief.URL + "\n")},
		"services":      {"s3://bucket", profile("services=mine\n[services mine]\nsts =\n  endpoint_url = " + thief.URL + "\n")},
		"source_profile": {"s3://bucket", blobstore.Credentials{
			"credentials": []byte("[default]\n"),
			"config": []byte("[default]\nrole_arn=arn:aws:iam::1:role/r\nsource_profile=other\nendpoint_url=" + thief.URL +
				"\n[profile other]\nrole_arn=arn:aws:iam::1:role/s\nweb_identity_token_file=" + identity + "\n"),
		}},
	} {
		for _, allow := range []bool{false, true} {
			target := blobstore.Target{URL: c.url, Endpoint: thief.URL, ForcePathStyle: true, AllowTokens: allow}
			if c.url == "gs://bucket" {
				target.Endpoint = "" // it would be refused for that
			}
			b, err := blobstore.Open(t.Context(), target, c.keys)
			if err == nil {
				err = listing(b)
				_ = b.Close()
			}
			if reason := reasonOf(err); reason != v1beta2.ReasonInsecureEndpoint || robbed.Swap(false) {
				t.Errorf("%s, allowed %t: got %q of %v, and the file may have been sent", name, allow, reason, err)
			}
		}
	}
}

// TestBorrowedIdentity wants no token of the pod's identity to go to an endpoint, though a Secret says how to get it.
func TestBorrowedIdentity(t *testing.T) {
	keys := blobstore.Credentials{"credentials.json": []byte(`{"type":"external_account","audience":"a","subject_token_type":"t",` +
		`"credential_source":{"file":"/nowhere"}}`)}
	for _, secure := range []bool{true, false} {
		for _, allow := range []bool{true, false} {
			th := newThief(t, secure)
			if reason := th.asked(t, "gs://bucket", keys, allow); reason != v1beta2.ReasonInsecureEndpoint || len(th.sent) > 0 {
				t.Errorf("secure %t, allowed %t: got %q, and it was sent %v", secure, allow, reason, th.sent)
			}
		}
	}
	other := blobstore.Credentials{"access-token": []byte("t"), "credentials.json": keys["credentials.json"]}
	th := newThief(t, true)
	if th.asked(t, "gs://bucket", other, false); len(th.sent) == 0 {
		t.Error("a token of the Secret's own is not sent")
	}
}

// TestBorrowedProfile is the same with the files of the AWS command line: without keys in them the identity is the pod's, or its
// node's, also where it is exchanged for a role's.
func TestBorrowedProfile(t *testing.T) {
	aws := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"AccessKeyId":"key","SecretAccessKey":"0123456789","Token":%q,"Expiration":"2100-01-01T00:00:00Z"}`
		if r.Method == http.MethodPost {
			answer = `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>key</AccessKeyId><SecretAccessKey>0123456789` +
				`</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>` +
				`</AssumeRoleResult></AssumeRoleResponse>`
		}
		_, _ = fmt.Fprintf(w, answer, stolen)
	}))
	t.Cleanup(aws.Close)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", aws.URL)
	t.Setenv("AWS_ENDPOINT_URL_STS", aws.URL)
	const role, keys = "role_arn=arn:aws:iam::1:role/r\n", "aws_access_key_id=key\naws_secret_access_key=0123456789\n"
	for _, c := range []struct {
		name, credentials, config string
		borrowed                  bool
	}{
		{"without keys", "[default]\n", "[default]\n", true},
		{"the node's", "[default]\n", "[default]\n" + role + "credential_source=EcsContainer\n", true},
		{"of its own", "[default]\n" + keys + "aws_session_token=" + stolen + "\n", "[default]\n", false},
		{"of its own, for a role", "[other]\n" + keys, "[default]\n" + role + "source_profile=other\n", false},
	} {
		secret := blobstore.Credentials{"credentials": []byte(c.credentials), "config": []byte(c.config)}
		for _, allow := range []bool{true, false} {
			th := newThief(t, true)
			reason := th.asked(t, "s3://bucket", secret, allow)
			if refused := reason == v1beta2.ReasonInsecureEndpoint && len(th.sent) == 0; refused != c.borrowed || th.robbed() == c.borrowed {
				t.Errorf("%s, allowed %t: got %q, and it was sent %v", c.name, allow, reason, th.sent)
			}
		}
	}
}
