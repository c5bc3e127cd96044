package blobstore

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
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
	// Region of an S3 bucket, if the credentials do not name one; us-east-1 if nothing does.
	Region string
	// ForcePathStyle puts an S3 bucket into the path instead of the host name.
	ForcePathStyle bool
	// Root is the folder that file URLs are below; the whole file system if empty. ReadOnly takes their folder as it is,
	// and does not make it.
	Root     string
	ReadOnly bool
}

// Schemes of a target's URL.
const (
	schemeS3    = "s3"
	schemeGCS   = "gs"
	schemeAzure = "azblob"
	schemeFile  = "file"
)

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
	case p.scheme == schemeFile && (p.bucket != "" || p.folder == ""):
		return place{}, misconfigured(fmt.Sprintf("the storage's URL %s names no folder: write file:///folder", t.URL))
	case p.scheme == schemeFile && slices.Contains(strings.Split(p.folder, "/"), ".."):
		return place{}, misconfigured(fmt.Sprintf("the storage's URL %s has a .. in its path: name the folder itself", t.URL))
	case p.scheme == schemeFile:
		p.folder = path.Join("/", t.Root, p.folder)
		return p, nil
	case p.scheme != schemeS3 && p.scheme != schemeGCS && p.scheme != schemeAzure:
		return place{}, misconfigured(fmt.Sprintf(
			"the storage's URL begins with %q: it must be s3://, gs://, azblob:// or file:///", p.scheme+"://"))
	case p.bucket == "":
		return place{}, misconfigured(fmt.Sprintf("the storage's URL %s names no bucket", t.URL))
	}
	return p, nil
}

// FromLegacy turns the stanza that the storage type names, as coreos/etcd-operator has it, into a target, and the last
// part of its path, which is the name of an object or what the names of objects begin with.
func FromLegacy(kind v1beta2.StorageType, s v1beta2.BackupStorage) (t Target, name string, err error) {
	switch {
	case kind == v1beta2.StorageTypeS3 && s.S3 != nil:
		t.Endpoint, t.ForcePathStyle = withScheme(s.S3.Endpoint), s.S3.ForcePathStyle
		t.URL, name, err = legacyPath(schemeS3, s.S3.Path)
	case kind == v1beta2.StorageTypeGCS && s.GCS != nil:
		t.URL, name, err = legacyPath(schemeGCS, s.GCS.Path)
	case kind == v1beta2.StorageTypeABS && s.ABS != nil:
		t.URL, name, err = legacyPath(schemeAzure, s.ABS.Path)
	case kind == v1beta2.StorageTypeOSS && s.OSS != nil:
		t.Endpoint, t.Region = ossEndpoint(s.OSS.Endpoint)
		t.URL, name, err = legacyPath(schemeS3, s.OSS.Path)
	default:
		err = misconfigured(fmt.Sprintf("storageType is %q, and there is no stanza of that name: give one of s3, gcs, abs, oss", kind))
	}
	return t, name, err
}

// legacyPath splits bucket/some/key into a URL of the folder and the key's last part.
func legacyPath(scheme, text string) (address, name string, err error) {
	bucket, key, _ := strings.Cut(text, "/")
	folder, name := path.Split(key)
	if bucket == "" || name == "" {
		return "", "", misconfigured(fmt.Sprintf("the path %q must be bucket/key", text))
	}
	u := url.URL{Scheme: scheme, Host: bucket, Path: "/" + strings.Trim(folder, "/")}
	return u.String(), name, nil
}

// withScheme completes an endpoint that is only a host, as the old operator took it.
func withScheme(endpoint string) string {
	if endpoint == "" || strings.Contains(endpoint, "://") {
		return endpoint
	}
	return "https://" + endpoint
}

// ossDomain is what the names of Alibaba's endpoints end with, and ossDefault the endpoint of the old operator's users
// who named none.
const (
	ossDomain  = ".aliyuncs.com"
	ossDefault = "oss-cn-hangzhou" + ossDomain
)

// ossEndpoint gives the endpoint that speaks S3's protocol beside one that speaks Alibaba's own (oss-<region>), and its
// region.
func ossEndpoint(endpoint string) (address, region string) {
	if endpoint == "" {
		endpoint = ossDefault
	}
	u, err := url.Parse(withScheme(endpoint))
	if err != nil {
		return endpoint, "" // Open refuses it
	}
	own, found := strings.CutSuffix(u.Hostname(), ossDomain)
	own = strings.TrimPrefix(own, "s3.")
	if !found || !strings.HasPrefix(own, "oss-") {
		return u.String(), ""
	}
	u.Scheme, u.Host = "https", "s3."+own+ossDomain
	return u.String(), strings.TrimSuffix(strings.TrimPrefix(own, "oss-"), "-internal")
}
