// Package image builds OCI images from files, without a Docker engine or a base image, and pushes them to a registry.
package image
