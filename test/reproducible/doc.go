// Package reproducible proves that everyone who builds a commit of the operator gets the same programs, SBOMs and image, and the same
// release, and looks whether a release is whole. It takes minutes, since a build proves this only if it compiles everything anew. No
// cluster and no docker are needed.
package reproducible
