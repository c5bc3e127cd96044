package access

import "fmt"

// Describe is a call in words, for events and errors. It holds no password.
func Describe(c Call) string {
	switch c := c.(type) {
	case AddUser:
		if !c.Password {
			return "create user " + c.Name + " without a password"
		}
		return "create user " + c.Name
	case DeleteUser:
		return "delete user " + c.Name
	case SetPassword:
		return "set the password of user " + c.Name
	case GrantRole:
		return fmt.Sprintf("grant role %s to user %s", c.Role, c.User)
	case RevokeRole:
		return fmt.Sprintf("revoke role %s from user %s", c.Role, c.User)
	case AddRole:
		return "create role " + c.Name
	case DeleteRole:
		return "delete role " + c.Name
	case Grant:
		return fmt.Sprintf("grant %s of %s to role %s", c.Rights, c.Range, c.Role)
	case Revoke:
		return fmt.Sprintf("revoke the permissions for %s from role %s", c.Range, c.Role)
	}
	return ""
}

// String is for messages.
func (r Rights) String() string {
	return map[Rights]string{Read: "Read", Write: "Write", Read | Write: "ReadWrite"}[r]
}

// String is for messages.
func (r Range) String() string {
	switch r.RangeEnd {
	case "":
		return fmt.Sprintf("key %q", r.Key)
	case OpenEnd:
		return fmt.Sprintf("keys from %q", r.Key)
	}
	return fmt.Sprintf("keys from %q to %q", r.Key, r.RangeEnd)
}
