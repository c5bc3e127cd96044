package blobstore

import (
	"fmt"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/storage"
)

// Credentials are the keys and values of a Secret; none means the pod's own cloud identity. These are read:
//
//   - S3: access-key-id and secret-access-key, and session-token if there is one; or credentials, and config if there is
//     one, in the form of the AWS command line's files, of which the profile "default" counts; or accessKeyID and
//     accessKeySecret, as coreos/etcd-operator has them for OSS.
//   - Google Cloud Storage: credentials.json, or access-token.
//   - Azure: storage-account, with storage-key or sas-token, and cloud if it is not the public one.
type Credentials map[string][]byte

// get is the value of a key, without the newline at the end of a file.
func (c Credentials) get(key string) string { return strings.TrimSpace(string(c[key])) }

func (c Credentials) missing(what string) error {
	return misconfigured(fmt.Sprintf("the Secret with the credentials has no key for %s: it needs %s", what, map[string]string{
		"S3":                   "access-key-id and secret-access-key, or credentials (an AWS shared credentials file)",
		"Google Cloud Storage": "credentials.json or access-token",
		"Azure":                "storage-account, and storage-key or sas-token",
	}[what]))
}

// open are the keys whose values are not secret.
var open = map[string]bool{storage.KeyAzureAccount: true, storage.KeyAzureCloud: true}

// redact removes the credentials from a text: services and proxies repeat what they were sent.
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

// isSeparator reports whether the character separates keys in files and URLs.
func isSeparator(r rune) bool { return strings.ContainsRune(" \t\r\n\"',;&?", r) }
