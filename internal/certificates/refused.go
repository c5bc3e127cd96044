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

// patience is how long a replacement of authorities waits for users' Secrets that cannot be written: time to see it and to mend it. It counts
// from when the replacement began, which the Secret of AuthorityName says: neither another process nor another such Secret begins it anew.
const patience = 15 * time.Minute

// givenUp reports whether a user is waited for no longer. One whose Secret was not tried, as after a restart, is: perhaps it can be written.
func (o Observed) givenUp(u User) bool {
	return u.Refused != "" && !o.patientUntil.IsZero() && !o.Now.Before(o.patientUntil)
}

// reached are the users that are waited for.
func (o Observed) reached() []User {
	return slices.DeleteFunc(slices.Clone(o.Users), o.givenUp)
}

// consequence is what becomes of the applications of a user whose Secret cannot be written.
func (o Observed) consequence(u User) string {
	switch {
	case o.givenUp(u):
		return fmt.Sprintf("the replacement of authorities that began at %s does not wait for it any more; another one waits for %.0f minutes, "+
			"and then cuts off its applications", o.patientUntil.Add(-patience).UTC().Format(time.RFC3339), patience.Minutes())
	case o.patientUntil.IsZero():
		return "it has no certificate before"
	}
	return fmt.Sprintf("a replacement of authorities waits for it until %s, and then cuts off its applications",
		o.patientUntil.UTC().Format(time.RFC3339))
}

// remedy is what makes the Secret of a user writable.
func (u User) remedy() string {
	if u.Going {
		return "do what they wait for, or remove them"
	}
	return "mend that, or delete the Secret"
}

// refused says which users' Secrets cannot be written: the first few, because a condition's message is limited. The operator goes on trying.
func (d *Decision) refused(o Observed) {
	const named = 5
	var all []string
	more := 0
	for _, u := range o.Users {
		if u.Refused == "" {
			continue
		}
		if len(all) == named {
			more++
			continue
		}
		all = append(all, fmt.Sprintf("Secret %s of the user %s cannot be written (%s): %s, so that it is created again; %s",
			u.Secret, u.Name, u.Refused, u.remedy(), o.consequence(u)))
	}
	if len(all) == 0 {
		return
	}
	if more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	message := strings.Join(all, "; ")
	if d.Problem != nil {
		message, d.Problem = d.Problem.Message+"; "+message, &failure.Problem{Reason: d.Problem.Reason}
	} else {
		d.Problem = &failure.Problem{Reason: v1beta2.ReasonWriteRefused}
	}
	d.Problem.Message, d.Settled = message, false
}
