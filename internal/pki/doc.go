// Package pki reads and checks certificates that users give, and issues own ones. It is pure: the time and the source of
// randomness are passed in.
//
// Its errors are for users: they begin with the key of the Secret that is wrong, say what is wrong with it, and end with what to
// do. They contain nothing of a private key.
package pki
