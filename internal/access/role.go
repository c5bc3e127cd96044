package access

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Role makes a role, whose permissions are have, into one that has the permissions of want. If it does not exist, exists is false. A
// range may be there more than once: then its rights add up, as they do in etcd.
func Role(name string, exists bool, have, want []Permission) []Call {
	c := &change{role: name, have: rightsOf(have), want: rightsOf(want), repeated: repeated(have)}
	if !exists {
		c.calls = append(c.calls, AddRole{name})
	}
	// Whatever is new, or grows, comes first: from here on, the role has every right that is wanted.
	for _, r := range ranges(c.want) {
		if all := c.have[r] | c.want[r]; all != c.have[r] {
			c.grant(r, all)
		}
	}
	for _, r := range ranges(c.have) {
		if c.want[r] == 0 {
			c.revoke(r)
		}
	}
	for _, r := range ranges(c.want) {
		if c.have[r] != c.want[r] {
			c.narrow(r)
		}
	}
	return c.calls
}

// change is how a role is being changed.
type change struct {
	role       string
	have, want map[Range]Rights
	// repeated are the ranges that etcd may have several permissions for.
	repeated map[Range]bool
	calls    []Call
}

func (c *change) grant(r Range, rights Rights) {
	c.repeated[r] = c.repeated[r] || c.have[r] != 0 && !c.alone(r)
	c.calls = append(c.calls, Grant{c.role, Permission{r, rights}})
	c.have[r] = rights
}

func (c *change) revoke(r Range) {
	c.calls = append(c.calls, Revoke{c.role, r})
	delete(c.have, r)
	delete(c.repeated, r)
}

// narrow takes rights away in a range. etcd changes a permission in place only if it is the first one with its key, and otherwise adds
// another one to it, whose rights add up (RoleGrantPermission in etcd's auth package). Then all of the range have to be revoked, and
// others give its rights meanwhile.
func (c *change) narrow(r Range) {
	if !c.repeated[r] && c.alone(r) {
		c.grant(r, c.want[r])
		return
	}
	cover := c.cover(r)
	for _, part := range cover {
		c.grant(part, c.want[r])
	}
	c.revoke(r)
	c.grant(r, c.want[r])
	for _, part := range cover {
		c.revoke(part)
	}
}

// alone reports whether no other range begins with the key.
func (c *change) alone(r Range) bool {
	for other := range c.have {
		if other.Key == r.Key && other != r {
			return false
		}
	}
	return true
}

// cover are ranges that the role does not have, and that together are this one. There are none for a single key for which the role
// has both ways to write it: its rights are gone for the time between two requests.
func (c *change) cover(r Range) []Range {
	next := r.Key + "\x00" // the key right after it
	for _, same := range []Range{{r.Key, ""}, {r.Key, next}} {
		if _, taken := c.have[same]; !taken && (r.RangeEnd == "" || r.RangeEnd == next) {
			return []Range{same}
		}
	}
	for middle := next; r.RangeEnd == OpenEnd || middle < r.RangeEnd; middle += "\x00" {
		parts := []Range{{r.Key, middle}, {middle, r.RangeEnd}}
		if !slices.ContainsFunc(parts, func(p Range) bool { return c.have[p] != 0 }) {
			return parts
		}
	}
	return nil
}

// rightsOf adds up the rights in each range.
func rightsOf(all []Permission) map[Range]Rights {
	sum := map[Range]Rights{}
	for _, p := range all {
		sum[p.Range] |= p.Rights
	}
	return sum
}

func repeated(all []Permission) map[Range]bool {
	seen, twice := map[Range]bool{}, map[Range]bool{}
	for _, p := range all {
		twice[p.Range] = seen[p.Range]
		seen[p.Range] = true
	}
	return twice
}

func ranges(of map[Range]Rights) []Range {
	return slices.SortedFunc(maps.Keys(of), func(a, b Range) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.RangeEnd, b.RangeEnd))
	})
}
