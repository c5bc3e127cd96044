// Package build makes the programs that the lab and the project's Makefile run, from the modules pinned in
// hack/tools, and keeps them in a cache whose folders are keyed by the pins: a changed pin rebuilds, and an old
// cache never answers for a new one.
package build
