package blobstore

import (
	"fmt"
	"strings"
)

// Credentials are the keys of a Secret and what they hold; none means the pod's own cloud identity. What is read:
//
//   - S3: access-key-id and secret-access-key, and session-token if there is one; or credentials, and config if there is
//     one, in the form of the AWS command line's files, of which the profile "default" counts; or accessKeyID and
//     accessKeySecret, as coreos/etcd-operator has them for OSS.
//   - Google Cloud Storage: credentials.json, or access-token.
//   - Azure: storage-account, with storage-key or sas-token, and cloud if it is not the public one.
type Credentials map[string][]byte

// Keys of a Secret.
const (
	keyAccessKeyID     = "access-key-id"
	keySecretAccessKey = "secret-access-key" // #nosec G101 -- the name of a key
	keySessionToken    = "session-token"
	keyAWSCredentials  = "credentials"
	keyAWSConfig       = "config"
	keyOSSID           = "accessKeyID"
	keyOSSSecret       = "accessKeySecret" // #nosec G101 -- the name of a key
	keyGCSCredentials  = "credentials.json"
	keyGCSToken        = "access-token"
	keyAzureAccount    = "storage-account"
	keyAzureKey        = "storage-key"
	keyAzureSAS        = "sas-token"
	keyAzureCloud      = "cloud"
)

// CredentialKeys are the keys of a Secret that storage of this URL may need.
func CredentialKeys(address string) []string {
	scheme, _, _ := strings.Cut(address, "://")
	return map[string][]string{
		schemeS3: {
			keyAccessKeyID, keySecretAccessKey, keySessionToken, keyAWSCredentials, keyAWSConfig, keyOSSID, keyOSSSecret,
		},
		schemeGCS:   {keyGCSCredentials, keyGCSToken},
		schemeAzure: {keyAzureAccount, keyAzureKey, keyAzureSAS, keyAzureCloud},
	}[scheme]
}

// get is the text of a key, without the newline that files end with.
func (c Credentials) get(key string) string { return strings.TrimSpace(string(c[key])) }

func (c Credentials) missing(what string) error {
	return misconfigured(fmt.Sprintf("the Secret with the credentials has none for %s: it needs %s", what, map[string]string{
		"S3":                   "access-key-id and secret-access-key, or credentials (a file of the AWS command line)",
		"Google Cloud Storage": "credentials.json or access-token",
		"Azure":                "storage-account, and storage-key or sas-token",
	}[what]))
}

// open are the keys that are no secrets.
var open = map[string]bool{keyAzureAccount: true, keyAzureCloud: true}

// redact takes out of a text what the credentials hold: services and proxies repeat what they were sent.
func (c Credentials) redact(text string) string {
	for key, value := range c {
		if open[key] {
			continue
		}
		for _, word := range strings.FieldsFunc(string(value), isSeparator) {
			// Shorter words are keywords and profile names rather than keys.
			if len(word) >= 12 {
				text = strings.ReplaceAll(text, word, "[redacted]")
			}
		}
	}
	return text
}

// isSeparator tells what separates keys from each other in files and URLs.
func isSeparator(r rune) bool { return strings.ContainsRune(" \t\r\n\"',;&?", r) }
