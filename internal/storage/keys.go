// Package storage defines how object storage is named: the schemes of URLs, the keys of Secrets, and the form of
// coreos/etcd-operator. To open it, see the package blobstore.
package storage

import "strings"

// Schemes of a storage's URL.
const (
	SchemeS3    = "s3"
	SchemeGCS   = "gs"
	SchemeAzure = "azblob"
	SchemeFile  = "file"
)

// Keys of a Secret with credentials; blobstore.Credentials says which belong together.
const (
	KeyAccessKeyID     = "access-key-id"
	KeySecretAccessKey = "secret-access-key" // #nosec G101 -- the name of a key
	KeySessionToken    = "session-token"
	KeyAWSCredentials  = "credentials"
	KeyAWSConfig       = "config"
	KeyOSSID           = "accessKeyID"
	KeyOSSSecret       = "accessKeySecret" // #nosec G101 -- the name of a key
	KeyGCSCredentials  = "credentials.json"
	KeyGCSToken        = "access-token"
	KeyAzureAccount    = "storage-account"
	KeyAzureKey        = "storage-key"
	KeyAzureSAS        = "sas-token"
	KeyAzureCloud      = "cloud"
)

// CredentialKeys are the keys of a Secret that storage of this URL may need.
func CredentialKeys(address string) []string {
	scheme, _, _ := strings.Cut(address, "://")
	return map[string][]string{
		SchemeS3: {
			KeyAccessKeyID, KeySecretAccessKey, KeySessionToken, KeyAWSCredentials, KeyAWSConfig, KeyOSSID, KeyOSSSecret,
		},
		SchemeGCS:   {KeyGCSCredentials, KeyGCSToken},
		SchemeAzure: {KeyAzureAccount, KeyAzureKey, KeyAzureSAS, KeyAzureCloud},
	}[scheme]
}
