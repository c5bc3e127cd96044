package certificates

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// The Secret of a user may be one that cannot be written: somebody has made it immutable, or a webhook denies it. While authorities are
// replaced, its applications would be cut off if members went on. So they wait, but not for ever: that would leave it to whoever may change
// that Secret whether an authority whose key was stolen, or that expires, is ever replaced.

// patience is how long a replacement of authorities waits for a user's Secret that cannot be written: time to see it and to mend it.
const patience = 15 * time.Minute

// givenUp reports whether a user is waited for no longer.
func (o Observed) givenUp(u User) bool {
	return u.Refused != "" && o.Now.Sub(u.RefusedSince) >= patience
}

// reached are the users that are waited for.
func (o Observed) reached() []User {
	return slices.DeleteFunc(slices.Clone(o.Users), o.givenUp)
}

// refused says which users' Secrets cannot be written. The operator goes on trying.
func (d *Decision) refused(o Observed) {
	var all []string
	for _, u := range o.Users {
		if u.Refused == "" {
			continue
		}
		until := fmt.Sprintf("a replacement of authorities waits for it until %s, and then cuts off its applications",
			u.RefusedSince.Add(patience).UTC().Format(time.RFC3339))
		if o.givenUp(u) {
			until = "a replacement of authorities does not wait for it any more, and cuts off its applications"
		}
		all = append(all, fmt.Sprintf("Secret %s of the user %s cannot be written (%s): mend that, or delete the Secret, so that it is created "+
			"again; %s", u.Secret, u.Name, u.Refused, until))
	}
	if len(all) == 0 {
		return
	}
	message := strings.Join(all, "; ")
	if d.Problem != nil {
		message, d.Problem = d.Problem.Message+"; "+message, &failure.Problem{Reason: d.Problem.Reason}
	} else {
		d.Problem = &failure.Problem{Reason: v1beta2.ReasonWriteRefused}
	}
	d.Problem.Message, d.Settled = message, false
}
