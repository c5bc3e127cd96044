package access

import "slices"

// Wanted is what a user is to be.
type Wanted struct {
	// Password is false for a user that logs in with a certificate.
	Password bool
	// Version identifies the password, empty without one.
	Version string
	// Roles are those to have. They must exist.
	Roles []string
}

// Present is what etcd has of a user, and what is known of it.
type Present struct {
	// Roles are those that it has.
	Roles []string
	// Known is true if the operator has created the user that is there. Otherwise nobody knows which password it has, if any.
	Known bool
	// Password and Version are as in Wanted, and hold nothing unless Known.
	Password bool
	Version  string
}

// User makes a user into what is wanted. Present is nil if there is none of that name.
func User(name string, present *Present, want Wanted) []Call {
	var calls []Call
	if present != nil && (!present.Known || present.Password != want.Password) {
		calls, present = append(calls, DeleteUser{name}), nil
	}
	switch {
	case present == nil:
		calls, present = append(calls, AddUser{name, want.Password}), &Present{}
	case present.Version != want.Version:
		calls = append(calls, SetPassword{name})
	}
	for _, role := range sorted(want.Roles) {
		if !slices.Contains(present.Roles, role) {
			calls = append(calls, GrantRole{name, role})
		}
	}
	for _, role := range sorted(present.Roles) {
		if !slices.Contains(want.Roles, role) {
			calls = append(calls, RevokeRole{name, role})
		}
	}
	return calls
}

func sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }
