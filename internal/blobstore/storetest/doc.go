// Package storetest gives tests real object stores: one that speaks S3's protocol, over TLS, on the loopback interface.
package storetest
