package storage

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// FromLegacy converts storage in coreos/etcd-operator's form, of that type, to storage by URL, and the last part of its path, which is
// the name of an object or the prefix of names. The error is a failure.Error.
func FromLegacy(kind v1beta2.StorageType, s v1beta2.BackupStorage) (t v1beta2.Storage, name string, err error) {
	switch {
	case kind == v1beta2.StorageTypeS3 && s.S3 != nil:
		t.CredentialsSecretRef.Name, t.Endpoint, t.ForcePathStyle = s.S3.AWSSecret, withScheme(s.S3.Endpoint), s.S3.ForcePathStyle
		t.URL, name, err = legacyPath(SchemeS3, s.S3.Path)
	case kind == v1beta2.StorageTypeGCS && s.GCS != nil:
		t.CredentialsSecretRef.Name = s.GCS.GCPSecret
		t.URL, name, err = legacyPath(SchemeGCS, s.GCS.Path)
	case kind == v1beta2.StorageTypeABS && s.ABS != nil:
		t.CredentialsSecretRef.Name = s.ABS.ABSSecret
		t.URL, name, err = legacyPath(SchemeAzure, s.ABS.Path)
	case kind == v1beta2.StorageTypeOSS && s.OSS != nil:
		t.CredentialsSecretRef.Name = s.OSS.OSSSecret
		t.Endpoint, t.Region = ossEndpoint(s.OSS.Endpoint)
		t.URL, name, err = legacyPath(SchemeS3, s.OSS.Path)
	default:
		err = misconfigured(fmt.Sprintf("storageType is %q, but the section of that name is missing: set s3, gcs, abs or oss", kind))
	}
	if err != nil {
		return v1beta2.Storage{}, "", err
	}
	return t, name, nil
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

// withScheme completes an endpoint that is only a host, which coreos/etcd-operator accepted.
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
		return endpoint, "" // opening it fails
	}
	own, found := strings.CutSuffix(u.Hostname(), ossDomain)
	own = strings.TrimPrefix(own, "s3.")
	if !found || !strings.HasPrefix(own, "oss-") {
		return u.String(), ""
	}
	u.Scheme, u.Host = "https", "s3."+own+ossDomain
	return u.String(), strings.TrimSuffix(strings.TrimPrefix(own, "oss-"), "-internal")
}

func misconfigured(message string) error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonStorageMisconfigured, Message: message, Terminal: true})
}
