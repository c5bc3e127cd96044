// Package programs lists what a lab runs: tools that hack/tools pins, and programs of Debian packages.
package programs
