package access

// Call is one request to etcd. The set is closed.
//
//sumtype:decl
type Call interface{ call() }

// AddUser creates a user without roles, with the password that is wanted or with none.
type AddUser struct {
	Name     string
	Password bool
}

// DeleteUser deletes a user.
type DeleteUser struct{ Name string }

// SetPassword gives a user that has a password the one that is wanted.
type SetPassword struct{ Name string }

// GrantRole gives a user a role.
type GrantRole struct{ User, Role string }

// RevokeRole takes a role from a user.
type RevokeRole struct{ User, Role string }

// AddRole creates a role without permissions.
type AddRole struct{ Name string }

// DeleteRole deletes a role, and takes it from all users.
type DeleteRole struct{ Name string }

// Grant gives a role a permission.
type Grant struct {
	Role string
	Permission
}

// Revoke takes all permissions for a range from a role.
type Revoke struct {
	Role string
	Range
}

func (AddUser) call()     {}
func (DeleteUser) call()  {}
func (SetPassword) call() {}
func (GrantRole) call()   {}
func (RevokeRole) call()  {}
func (AddRole) call()     {}
func (DeleteRole) call()  {}
func (Grant) call()       {}
func (Revoke) call()      {}

// Rights are what a permission allows.
type Rights uint8

// The rights; a permission may have both.
const (
	Read Rights = 1 << iota
	Write
)

// Range is a range of keys as etcd writes it: from Key up to RangeEnd, without that. An empty RangeEnd stands for the Key alone, and
// OpenEnd for all keys from Key on.
type Range struct{ Key, RangeEnd string }

// OpenEnd is the RangeEnd of a range without an end.
const OpenEnd = "\x00"

// Permission allows Rights, which is never zero, in a Range.
type Permission struct {
	Range
	Rights Rights
}

// Prefix is the range of all keys that begin with a prefix.
func Prefix(prefix string) Range {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return Range{prefix, string(end[:i+1])}
		}
	}
	if prefix == "" { // etcd knows no empty key
		return Range{"\x00", OpenEnd}
	}
	return Range{prefix, OpenEnd}
}
