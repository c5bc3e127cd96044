package certificates

import (
	"fmt"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// The Secret of a user may be one that cannot be written: somebody has made it immutable, or a webhook denies it. While authorities are
// replaced, its applications would be cut off if members went on. So they wait, but not for ever: that would leave it to whoever may change
// that Secret whether an authority whose key was stolen, or that expires, is ever replaced. The same goes for one that is deleted, or put back
// as it was, again and again.

// Patience is how long a replacement of authorities waits for users' Secrets: time to see that one cannot be written, and to mend it. It counts
// from when the replacement began, and once more from when clients get certificates of the new authority, which takes as long as an update of
// all members. The Secret of AuthorityName says when that was: neither another process nor another Secret begins it anew.
const Patience = 15 * time.Minute

// ends is when patience that began at a time is over, zero for none.
func ends(began time.Time, patience time.Duration) time.Time {
	if began.IsZero() {
		return began
	}
	return began.Add(patience)
}

// patient reports whether a replacement may still wait for users' Secrets before members present certificates of the new authority.
func (o Observed) patient() bool { return o.patientUntil.IsZero() || o.Now.Before(o.patientUntil) }

// givenUp reports whether the Secret of a user counts no longer for what its applications present: it cannot be written, or somebody has put
// another authority's certificate back. One whose Secret was not tried, as after a restart, is waited for: perhaps it can be written.
func (w *view) givenUp(u User) bool {
	late := !w.o.handedUntil.IsZero() && !w.o.Now.Before(w.o.handedUntil)
	return w.o.givenUp(u) || late && w.signers.current != nil && issuer(u.Data[KeyCertificate]) != string(w.signers.current.Leaf().SubjectKeyId)
}

// givenUp reports whether a user whose Secret cannot be written is waited for no longer.
func (o Observed) givenUp(u User) bool { return u.Refused != "" && !o.patient() }

// reached are the users that are waited for.
func (o Observed) reached() []User {
	if o.patient() {
		return o.Users
	}
	return nil
}

// handOut notes when the first client gets a certificate of the present authority in place of another one's.
func (w *view) handOut() {
	if w.o.Managed == nil || !w.signers.handedOut.IsZero() {
		return
	}
	for i, h := range w.side.holders {
		pick := w.verdict.picks[i]
		if !h.member && pick != keep && len(h.has) > 0 && !h.offers[pick].issuers.equal(h.has) {
			w.signers.handedOut = w.o.Now
		}
	}
}

// consequence is what becomes of the applications of a user whose Secret cannot be written.
func (o Observed) consequence(u User) string {
	switch {
	case o.givenUp(u):
		return fmt.Sprintf("the replacement of authorities that began at %s does not wait for it any more; another one waits for %.0f minutes, "+
			"and then cuts off its applications", o.patientUntil.Add(-Patience).UTC().Format(time.RFC3339), Patience.Minutes())
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
	d.blame(strings.Join(all, "; "))
}

// blame says what is wrong with the Secrets of applications, after what else is.
func (d *Decision) blame(message string) {
	if d.Problem != nil {
		message, d.Problem = d.Problem.Message+"; "+message, &failure.Problem{Reason: d.Problem.Reason}
	} else {
		d.Problem = &failure.Problem{Reason: v1beta2.ReasonWriteRefused}
	}
	d.Problem.Message, d.Settled = message, false
}
