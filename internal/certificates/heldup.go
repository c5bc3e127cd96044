package certificates

import (
	"fmt"
	"slices"
	"time"
)

// ClientPatience is how long changes of the Secret of ClientName hold up a replacement of authorities, or a switch of clients to TLS and back,
// counted from when that began. The operator writes this Secret itself, perhaps late, so it is waited for longer than those of users: an
// administrator gets a day to see from CertificatesValid that somebody keeps changing it. But whoever may write to it can note a change every
// minute, and must not keep a stolen authority in use by that.
const ClientPatience = 24 * time.Hour

// heldUp says that the Secret of ClientName holds up a replacement of authorities for longer than a change or two of it explain.
func (d *Decision) heldUp(w *view) {
	began, now := w.signers.began(), w.o.Now
	late := !now.Before(began.Add(Patience)) && !now.Before(w.signers.handedOut.Add(Patience))
	if w.o.Managed == nil || !late || !w.unread() && !d.putRight(w) {
		return
	}
	message := fmt.Sprintf("the replacement of authorities that began at %s still waits for applications to read Secret %s, which cannot be "+
		"written, or is being changed or deleted again and again: find out by whom", began.UTC().Format(time.RFC3339), ClientName(w.o.Names.Cluster))
	if now.Before(w.o.refreshedUntil) {
		message += "; from " + w.o.refreshedUntil.UTC().Format(time.RFC3339) + " on, changes that are only noted there are not waited for any more"
	}
	d.blame(message)
}

// unread reports whether nothing but applications that may not have read the Secret of ClientName is waited for: once the patience with users is
// over, theirs are not.
func (w *view) unread() bool {
	read := w.side
	read.reading = false
	return w.side.reading && w.verdict.waiting && !next(read).waiting
}

// putRight reports whether the Secret of ClientName names others to trust than it is to, or has another authority's certificate, while members
// wait for that.
func (d *Decision) putRight(w *view) bool {
	return (w.verdict.waiting || w.verdict.refused) &&
		slices.ContainsFunc(d.Writes, func(write Write) bool { return write.Kind == KindClient && write.Refresh })
}
