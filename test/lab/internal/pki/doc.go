// Package pki makes the lab's certificate authority, certificates, service-account key and kubeconfigs.
package pki
