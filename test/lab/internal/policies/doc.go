// Package policies has the kernel hand over the connections to which NetworkPolicies apply. Package enforce decides about them; it is large,
// so only the program that does that has it.
package policies
