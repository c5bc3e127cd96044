// Package blobstore keeps objects in a bucket: Amazon S3 and what speaks its protocol, Google Cloud Storage, Azure Blob
// Storage, Alibaba Cloud OSS, or a folder on a volume.
//
// An object appears whole or not at all: what is written becomes visible by Writer.Commit only, and Writer.Abort leaves
// nothing behind, no parts of an upload either. What goes wrong is told as an Error, which has a reason for a condition
// and says what to do, and never holds a credential.
package blobstore
