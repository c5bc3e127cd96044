// Package soak chooses what is done to a cluster at random: faults, edits, kills of the operator, backups and restores, several at
// once. It does nothing itself, and the same seed gives the same choices.
package soak
