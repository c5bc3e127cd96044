// Package storetest gives tests object stores on the loopback interface: a real one that speaks S3's protocol, over TLS,
// and imitations of Google's and Azure's.
package storetest
