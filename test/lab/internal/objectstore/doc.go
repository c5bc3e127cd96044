// Package objectstore knows the servers that stand in for the object storage of clouds: how each is run, what its
// clients need to know, and how it gets a bucket. MinIO speaks S3, over TLS with a certificate authority of its own;
// fake-gcs-server speaks Google Cloud Storage and Azurite speaks Azure's blobs, both over plain HTTP, as emulators
// usually do.
package objectstore
