package blobstore_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
)

// strict refuses uploads without a checksum, as Amazon does in buckets with an Object Lock, before the server that checks it.
func strict(t *testing.T, m *storetest.MinIO) (endpoint string) {
	t.Helper()
	to, err := url.Parse(m.Target.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: m.Client.Options().HTTPClient.(*http.Client).Transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && r.Header.Get("Content-MD5") == "" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `<Error><Code>InvalidRequest</Code><Message>Content-MD5 OR x-amz-checksum- HTTP header is `+
				`required for Put Object requests with Object Lock parameters</Message></Error>`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// testS3Locked writes to a bucket that keeps every version of an object for a day.
func testS3Locked(t *testing.T, m *storetest.MinIO) {
	target := below(m.Locked(t), "folder")
	target.Endpoint = strict(t, m)
	b := open(t, target, m.Credentials)
	big := bytes.Repeat([]byte("0123456789abcdef"), 20<<16)
	for name, content := range map[string][]byte{"big": big, "small": []byte("small"), "empty": nil} {
		for range 2 { // over itself, too
			if err := write(b, name, bytes.NewReader(content)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got, err := b.Read(t.Context(), name, int64(len(content))); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: read %d bytes, %v", name, len(got), err)
		}
	}
	w, err := b.Create(t.Context(), "aborted")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(big); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if err := b.Delete(t.Context(), "small"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if got := list(t, b); !slices.Equal(got, []string{"big", "empty"}) {
		t.Errorf("listed %v", got)
	}
	versions, err := m.Client.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{
		Bucket: aws.String("locked"), Prefix: aws.String("folder/small"),
	})
	if err != nil || len(versions.Versions) != 2 || len(versions.DeleteMarkers) != 1 {
		t.Fatalf("what was deleted is kept behind a marker: got %+v, %v", versions, err)
	}
	if _, err := m.Client.DeleteObject(t.Context(), &s3.DeleteObjectInput{
		Bucket: aws.String("locked"), Key: versions.Versions[0].Key, VersionId: versions.Versions[0].VersionId,
	}); err == nil {
		t.Error("the bucket has no lock: a version could be deleted")
	}
}
