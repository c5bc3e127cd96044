package blobstore

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/storage"
)

// Target is a place for objects.
type Target struct {
	// URL is a bucket and the folder in it: s3://bucket/folder, gs://bucket/folder, azblob://container/folder or
	// file:///folder.
	URL string
	// Endpoint is the URL of a service other than the cloud's own, https://host:port, empty for the cloud's.
	Endpoint string
	// AllowTokens has tokens sent to the endpoint even if it is plain http://, or if the token is the pod's own and the endpoint
	// not of its cloud.
	AllowTokens bool
	// CA holds the certificates, in PEM, of those who vouch for the service, beside the system's. It may be empty.
	CA []byte
	// ServerName is the name that the service's certificate is for, where the endpoint has another one, as at the end of a tunnel; that of
	// the endpoint if it is empty.
	ServerName string
	// Region of an S3 bucket, if the credentials do not name one; us-east-1 if nothing does.
	Region string
	// ForcePathStyle puts an S3 bucket into the path instead of the host name.
	ForcePathStyle bool
	// Root is the folder that file URLs are below; the whole file system if empty. ReadOnly takes their folder as it is,
	// and does not make it.
	Root     string
	ReadOnly bool
}

// place is a target's URL in its parts.
type place struct {
	scheme, bucket string
	// folder has no slash at its ends. For files it is the whole path.
	folder string
}

func (t Target) place() (place, error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return place{}, misconfigured("the storage's URL must look like s3://bucket/folder, gs://bucket/folder, " +
			"azblob://container/folder or file:///folder, without user, query and fragment")
	}
	p := place{scheme: u.Scheme, bucket: u.Host, folder: strings.Trim(u.Path, "/")}
	switch {
	case p.scheme == storage.SchemeFile && (p.bucket != "" || p.folder == ""):
		return place{}, misconfigured(fmt.Sprintf("the storage's URL %s names no folder: set file:///folder", t.URL))
	case p.scheme == storage.SchemeFile && slices.Contains(strings.Split(p.folder, "/"), ".."):
		return place{}, misconfigured(fmt.Sprintf("the storage's URL %s has a .. in its path: use the folder's own path", t.URL))
	case p.scheme == storage.SchemeFile:
		p.folder = path.Join("/", t.Root, p.folder)
		return p, nil
	case p.scheme != storage.SchemeS3 && p.scheme != storage.SchemeGCS && p.scheme != storage.SchemeAzure:
		return place{}, misconfigured(fmt.Sprintf(
			"the storage's URL begins with %q: it must be s3://, gs://, azblob:// or file:///", p.scheme+"://"))
	case p.bucket == "":
		return place{}, misconfigured(fmt.Sprintf("the storage's URL %s names no bucket", t.URL))
	}
	return p, nil
}
