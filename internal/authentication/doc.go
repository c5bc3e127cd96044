// Package authentication decides when etcd's authentication is switched on and off, and when root's password is changed. It is pure: it
// sees what Observed holds, and says which step to take.
//
// Two rules keep the operator in charge:
//
//   - Authentication is switched on only if the operator will be root: everybody connects with a client certificate, and the operator's
//     has the common name root.
//   - What the spec does not mention is left alone. Who loses spec.auth from a manifest opens no cluster by that.
//
// The step Enable makes the user root anew first, because anyone may have made it while authentication was off, with a password of their
// own. Without a password from a Secret root gets one that nobody knows, instead of none: etcd never lets a user have a password later
// who was made without one.
package authentication
