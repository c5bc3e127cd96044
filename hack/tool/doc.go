// Command tool builds a program that hack/tools pins, if it was not built before, and prints its path. It needs Go and
// the network, and neither root nor the lab.
package main
