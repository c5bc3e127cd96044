// Package disk makes disks for nodes: file systems of their own and of a fixed size, that can be full or slow. A disk
// is an image file behind a FUSE server that delays every flush, attached as a loop device, and mounted in the mount
// namespace of its node.
package disk
