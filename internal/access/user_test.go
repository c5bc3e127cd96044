package access_test

import (
	"slices"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/access"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestUser has the requests of every change of a user.
func TestUser(t *testing.T) {
	add, gone := access.AddUser{Name: "u", Password: true}, access.DeleteUser{Name: "u"}
	byCertificate := access.AddUser{Name: "u"}
	grant := func(role string) access.Call { return access.GrantRole{User: "u", Role: role} }
	revoke := func(role string) access.Call { return access.RevokeRole{User: "u", Role: role} }
	want := access.Wanted{Password: true, Version: "1", Roles: []string{"b", "a"}}
	known := access.Present{Known: true, Password: true, Version: "1", Roles: []string{"a", "b"}}
	for name, c := range map[string]struct {
		present *access.Present
		want    access.Wanted
		calls   []access.Call
	}{
		"a new one":               {nil, want, []access.Call{add, grant("a"), grant("b")}},
		"one with a certificate":  {nil, access.Wanted{}, []access.Call{byCertificate}},
		"as it is":                {&known, want, nil},
		"another password":        {&known, access.Wanted{Password: true, Version: "2", Roles: want.Roles}, []access.Call{access.SetPassword{Name: "u"}}},
		"other roles":             {&known, access.Wanted{Password: true, Version: "1", Roles: []string{"c", "b"}}, []access.Call{grant("c"), revoke("a")}},
		"somebody else's":         {&access.Present{Roles: []string{"root"}}, want, []access.Call{gone, add, grant("a"), grant("b")}},
		"a certificate instead":   {&known, access.Wanted{Roles: []string{"a"}}, []access.Call{gone, byCertificate, grant("a")}},
		"a password from now on":  {&access.Present{Known: true}, access.Wanted{Password: true, Version: "1"}, []access.Call{gone, add}},
		"as it is, without roles": {&access.Present{Known: true}, access.Wanted{}, nil},
	} {
		if got := access.User("u", c.present, c.want); !slices.Equal(got, c.calls) {
			t.Errorf("%s: %v, want %v", name, got, c.calls)
		}
	}
}

// TestAccessNext has the decision in every case.
func TestAccessNext(t *testing.T) {
	problem, calls := &failure.Problem{Reason: "NameTaken"}, []access.Call{access.DeleteUser{Name: "u"}}
	for name, c := range map[string]struct {
		observed access.Observed
		action   access.Action
	}{
		"new":                       {access.Observed{Calls: calls}, access.AddFinalizer{}},
		"new, with a problem":       {access.Observed{Problem: problem}, access.Wait(*problem)},
		"to do":                     {access.Observed{HasFinalizer: true, Calls: calls}, access.Apply{Calls: calls}},
		"done":                      {access.Observed{HasFinalizer: true}, access.Idle{}},
		"a problem":                 {access.Observed{HasFinalizer: true, Problem: problem, Calls: calls}, access.Wait(*problem)},
		"to delete":                 {access.Observed{Deleting: true, HasFinalizer: true, Calls: calls}, access.Apply{Calls: calls}},
		"deleted":                   {access.Observed{Deleting: true, HasFinalizer: true}, access.RemoveFinalizer{}},
		"not to delete now":         {access.Observed{Deleting: true, HasFinalizer: true, Problem: problem}, access.Wait(*problem)},
		"nothing to delete":         {access.Observed{Deleting: true, HasFinalizer: true, Untouched: true, Problem: problem}, access.RemoveFinalizer{}},
		"others wait for something": {access.Observed{Deleting: true, Calls: calls}, access.Idle{}},
	} {
		got := access.Next(c.observed)
		if apply, ok := got.(access.Apply); ok {
			want, same := c.action.(access.Apply)
			if !same || !slices.Equal(apply.Calls, want.Calls) {
				t.Errorf("%s: %v, want %v", name, got, c.action)
			}
			continue
		}
		if _, ok := c.action.(access.Apply); ok || got != c.action {
			t.Errorf("%s: %v, want %v", name, got, c.action)
		}
		if _, idle := got.(access.Idle); access.Mutates(got) == idle {
			if _, waits := got.(access.Wait); !waits {
				t.Errorf("%s: mutates %v", name, !idle)
			}
		}
	}
}
