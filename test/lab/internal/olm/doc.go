// Package olm says how the Operator Lifecycle Manager is put into a lab: its images, its manifests, and the images of
// bundles and catalogs that it installs from.
package olm
