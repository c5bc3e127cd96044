package blobstore

import (
	"errors"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

func TestPlace(t *testing.T) {
	for url, want := range map[string]place{
		"s3://bucket":             {scheme: "s3", bucket: "bucket"},
		"s3://bucket/":            {scheme: "s3", bucket: "bucket"},
		"gs://bucket/some/folder": {scheme: "gs", bucket: "bucket", folder: "some/folder"},
		"azblob://container/f/":   {scheme: "azblob", bucket: "container", folder: "f"},
		"file:///mnt/backups/":    {scheme: "file", folder: "/mnt/backups"},
		"file:///a/../b":          {},
		"file:///../etc":          {},
		"file:///%2e%2e/etc":      {},
		"":                        {},
		"bucket/key":              {},
		"s3:///folder":            {},
		"file://folder/x":         {},
		"file:///":                {},
		"mem://":                  {},
		"https://host/bucket":     {},
		"s3://key:secret@bucket":  {},
		"s3://bucket?endpoint=x":  {},
		"s3://bucket/%zz":         {},
	} {
		got, err := Target{URL: url}.place()
		if got != want || (err == nil) != (want != place{}) {
			t.Errorf("%s: got %+v, %v, want %+v", url, got, err, want)
		}
	}
}

// TestRoot keeps file URLs below a folder, which messages and object URLs do not show.
func TestRoot(t *testing.T) {
	root := t.TempDir()
	target := Target{URL: "file:///some/folder", Root: root}
	b, err := Open(t.Context(), target, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.folder != root+"/some/folder" || b.URL("x") != "file:///some/folder/x" {
		t.Errorf("it is at %s, and says %s", b.folder, b.URL("x"))
	}
	target.URL, target.ReadOnly = "file:///other", true
	var e *failure.Error
	if _, err := Open(t.Context(), target, nil); !errors.As(err, &e) || e.Reason != v1beta2.ReasonNoSuchBucket || !e.Terminal {
		t.Errorf("a folder that is not there, and that nobody makes who only reads: got %v", err)
	}
}

// TestRefusedTargets says no before anything is asked.
func TestRefusedTargets(t *testing.T) {
	static := Credentials{"access-key-id": []byte("id"), "secret-access-key": []byte("key")}
	for title, c := range map[string]struct {
		target      Target
		credentials Credentials
	}{
		"no URL":                    {Target{}, nil},
		"an endpoint that is none":  {Target{URL: "s3://b", Endpoint: "minio:9000"}, static},
		"credentials in it":         {Target{URL: "s3://b", Endpoint: "https://id:key@minio"}, static},
		"a CA that is none":         {Target{URL: "s3://b", CA: []byte("x")}, static},
		"no S3 credentials":         {Target{URL: "s3://b"}, Credentials{"storage-key": nil}},
		"half of them":              {Target{URL: "s3://b"}, Credentials{"access-key-id": []byte("id")}},
		"an AWS file without":       {Target{URL: "s3://b"}, Credentials{"credentials": []byte("[other]\n")}},
		"no Google credentials":     {Target{URL: "gs://b"}, static},
		"Google's not JSON":         {Target{URL: "gs://b"}, Credentials{"credentials.json": []byte("x")}},
		"Google's of another type":  {Target{URL: "gs://b"}, Credentials{"credentials.json": []byte(`{"type":"x"}`)}},
		"no Azure credentials":      {Target{URL: "azblob://b"}, static},
		"an account without a key":  {Target{URL: "azblob://b"}, Credentials{"storage-account": []byte("a")}},
		"a key not in base64":       {Target{URL: "azblob://b"}, Credentials{"storage-account": []byte("a"), "storage-key": []byte("?")}},
		"a cloud that nobody knows": {Target{URL: "azblob://b"}, Credentials{"storage-account": []byte("a"), "cloud": []byte("x")}},
		"no Azure account":          {Target{URL: "azblob://b"}, nil},
	} {
		t.Run(title, func(t *testing.T) {
			_, err := Open(t.Context(), c.target, c.credentials)
			var e *failure.Error
			if !errors.As(err, &e) || e.Reason != v1beta2.ReasonStorageMisconfigured || !e.Terminal {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAzureURL(t *testing.T) {
	for title, c := range map[string]struct {
		endpoint, account, cloud, want string
	}{
		"public":       {"", "a", "", "https://a.blob.core.windows.net/c"},
		"China":        {"", "a", "AzureChinaCloud", "https://a.blob.core.chinacloudapi.cn/c"},
		"own host":     {"https://a.blob.example", "a", "", "https://a.blob.example/c"},
		"imitation":    {"http://127.0.0.1:10000", "a", "", "http://127.0.0.1:10000/a/c"},
		"with a path":  {"http://127.0.0.1:10000/a", "a", "", "http://127.0.0.1:10000/a/c"},
		"by endpoint":  {"https://a.blob.example", "", "", "https://a.blob.example/c"},
		"not a domain": {"https://abc.blob.example", "a", "", "https://abc.blob.example/a/c"},
	} {
		got, err := azureURL(Target{Endpoint: c.endpoint}, c.account, "c", Credentials{"cloud": []byte(c.cloud)})
		if err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", title, got, err, c.want)
		}
	}
}
