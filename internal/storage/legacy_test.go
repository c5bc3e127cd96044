package storage

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

func TestFromLegacy(t *testing.T) {
	s3 := func(path, endpoint string) v1beta2.BackupStorage {
		return v1beta2.BackupStorage{S3: &v1beta2.S3Storage{Path: path, Endpoint: endpoint, ForcePathStyle: true}}
	}
	oss := func(endpoint string) v1beta2.BackupStorage {
		return v1beta2.BackupStorage{OSS: &v1beta2.OSSStorage{Path: "b/k", Endpoint: endpoint}}
	}
	for title, c := range map[string]struct {
		kind    v1beta2.StorageType
		storage v1beta2.BackupStorage
		want    v1beta2.Storage
		name    string
	}{
		"s3":              {"S3", s3("b/k", ""), v1beta2.Storage{URL: "s3://b/", ForcePathStyle: true}, "k"},
		"in a folder":     {"S3", s3("b/some/folder/k", ""), v1beta2.Storage{URL: "s3://b/some/folder", ForcePathStyle: true}, "k"},
		"an endpoint":     {"S3", s3("b/k", "http://m:9"), v1beta2.Storage{URL: "s3://b/", Endpoint: "http://m:9", ForcePathStyle: true}, "k"},
		"a host":          {"S3", s3("b/k", "m:9000"), v1beta2.Storage{URL: "s3://b/", Endpoint: "https://m:9000", ForcePathStyle: true}, "k"},
		"no key":          {"S3", s3("b", ""), v1beta2.Storage{}, ""},
		"a folder only":   {"S3", s3("b/k/", ""), v1beta2.Storage{}, ""},
		"no bucket":       {"S3", s3("/k", ""), v1beta2.Storage{}, ""},
		"another stanza":  {"GCS", s3("b/k", ""), v1beta2.Storage{}, ""},
		"gcs":             {"GCS", v1beta2.BackupStorage{GCS: &v1beta2.GCSStorage{Path: "b/k"}}, v1beta2.Storage{URL: "gs://b/"}, "k"},
		"abs":             {"ABS", v1beta2.BackupStorage{ABS: &v1beta2.ABSStorage{Path: "b/k"}}, v1beta2.Storage{URL: "azblob://b/"}, "k"},
		"oss":             {"OSS", oss(""), v1beta2.Storage{URL: "s3://b/", Endpoint: "https://s3.oss-cn-hangzhou.aliyuncs.com", Region: "cn-hangzhou"}, "k"},
		"oss, its own":    {"OSS", oss("http://oss-eu-central-1.aliyuncs.com"), v1beta2.Storage{URL: "s3://b/", Endpoint: "https://s3.oss-eu-central-1.aliyuncs.com", Region: "eu-central-1"}, "k"},
		"oss, internal":   {"OSS", oss("oss-cn-beijing-internal.aliyuncs.com"), v1beta2.Storage{URL: "s3://b/", Endpoint: "https://s3.oss-cn-beijing-internal.aliyuncs.com", Region: "cn-beijing"}, "k"},
		"oss through s3":  {"OSS", oss("https://s3.oss-cn-beijing.aliyuncs.com"), v1beta2.Storage{URL: "s3://b/", Endpoint: "https://s3.oss-cn-beijing.aliyuncs.com", Region: "cn-beijing"}, "k"},
		"oss by a domain": {"OSS", oss("https://oss.example.com"), v1beta2.Storage{URL: "s3://b/", Endpoint: "https://oss.example.com"}, "k"},
	} {
		t.Run(title, func(t *testing.T) {
			got, name, err := FromLegacy(c.kind, c.storage)
			if got.URL != c.want.URL || got.Endpoint != c.want.Endpoint || got.Region != c.want.Region ||
				got.ForcePathStyle != c.want.ForcePathStyle || name != c.name || (err == nil) != (c.name != "") {
				t.Errorf("got %+v, %q, %v, want %+v, %q", got, name, err, c.want, c.name)
			}
		})
	}
}
