// Package state names the folders and files in which a lab keeps what outlives the command that started it.
package state
