package authentication

import "fmt"

// Password is a password that etcd can give a user. The zero value is none.
type Password struct{ text string }

// NewPassword returns a password, or what is wrong with it. etcd hashes an empty one without complaint, and bcrypt cannot hash more than
// 72 bytes.
func NewPassword(text []byte) (p Password, wrong string) {
	const longest = 72
	switch n := len(text); {
	case n == 0:
		return p, "is empty: give 1 to 72 bytes"
	case n > longest:
		return p, fmt.Sprintf("has %d bytes, and etcd takes 72 at most", n)
	}
	return Password{string(text)}, ""
}

// Text is the password itself, for etcd only.
func (p Password) Text() string { return p.text }

// String hides the password.
func (p Password) String() string { return "(hidden)" }

// GoString hides the password.
func (p Password) GoString() string { return p.String() }
