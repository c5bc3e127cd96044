package blobstore

import "testing"

func TestClouds(t *testing.T) {
	for host, want := range map[string]string{
		"s3.amazonaws.com": "s3", "bucket.s3.eu-central-1.amazonaws.com": "s3", "s3.cn-north-1.amazonaws.com.cn": "s3",
		"s3-fips.dualstack.us-gov-west-1.amazonaws.com": "s3", "bucket.vpce-1-2.s3.us-east-1.vpce.amazonaws.com": "s3",
		"bucket.s3express-usw2-az1.us-west-2.amazonaws.com": "s3", "s3.eusc-de-east-1.amazonaws.eu": "s3",
		"storage.googleapis.com": "gs", "storage.europe-west3.rep.googleapis.com": "gs", "account.blob.core.windows.net": "azblob",
		"account.privatelink.blob.core.windows.net": "azblob", "account.z01.blob.storage.azure.net": "azblob",
		"s3-mine-123.us-east-1.elb.amazonaws.com": "", "ec2-1-2-3-4.compute.amazonaws.com": "", "s3.amazonaws.com.example.com": "",
		"vpce-1.vpce-svc-2.us-east-1.vpce.amazonaws.com": "", "evilgoogleapis.com": "", "blob.core.windows.net.example.com": "",
		"s3express-mine.us-east-1.elb.amazonaws.com": "",
		"account.azurewebsites.net":                  "", "minio.storage.svc": "", "169.254.169.254": "",
	} {
		got := ""
		for scheme, hosts := range clouds {
			if hosts.MatchString(host) {
				got += scheme
			}
		}
		if got != want {
			t.Errorf("%s is of %q, want %q", host, got, want)
		}
	}
}
