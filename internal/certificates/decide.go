package certificates

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Decide returns what is to be done. It is to be called in each pass, with what is there then: however a pass ended, the next one
// goes on. The randomness must be fit for keys; an error means that it, or the signing, failed.
func Decide(o Observed, random io.Reader) (Decision, error) {
	d := Decision{Rotated: o.Rotated}
	if o.Transport.IsZero() {
		d.Settled = true
		return d, nil
	}
	r := d.rotation(o)
	var views, all []*view
	for _, h := range sides(o) {
		w, err := look(o, h, r.authorities, random)
		if err != nil {
			return Decision{}, err
		}
		if r.leaves {
			w.signers.renew = o.Now
		}
		w.verdict = next(w.side)
		if all = append(all, w); w.problem == nil || !h.of(o.Coming) {
			views = append(views, w)
		}
	}
	together(views)
	for _, w := range all {
		w.handOut()
		w.retire()
	}
	if err := d.render(o, views, random); err != nil {
		return Decision{}, err
	}
	d.record(o, views)
	d.report(o, all)
	for _, w := range all {
		if w.half == clients {
			d.heldUp(w)
			d.refused(w.o)
		}
	}
	if len(o.Altered) > 0 {
		d.keep(o)
	}
	return d, nil
}

// together has members stop trusting the former authorities of both sides at once. A side that cannot go on holds the other up no longer, and
// neither does one that is replaced once more: else a side that is replaced again and again would hold up the other for good.
func together(views []*view) {
	for _, w := range views {
		w.side.together = slices.ContainsFunc(views, func(other *view) bool { return other != w && other.turning() && !other.later(w) })
	}
	for _, w := range views {
		w.verdict = next(w.side)
	}
}

// later reports whether a replacement began so much later than that of the other side that the two were not meant to be one. Those of the
// user in mode static are not noted: the user makes them.
func (w *view) later(other *view) bool {
	ours, theirs := w.signers.began(), other.signers.began()
	return !ours.IsZero() && !theirs.IsZero() && ours.After(theirs.Add(Patience))
}

// turning reports whether the leaves of a side are being replaced, or read, after which members can stop trusting a former authority.
func (w *view) turning() bool {
	v := w.verdict
	return w.source != nil && !v.trust.equal(w.side.members.source) && (!v.refused || v.waiting)
}

// sides are those that use TLS.
func sides(o Observed) []half {
	var all []half
	for _, h := range []half{peers, clients} {
		if h.of(o.Transport) {
			all = append(all, h)
		}
	}
	return all
}

// rotation is what the user asks to be made anew.
type rotation struct {
	authorities, leaves bool
}

// rotation reads the annotation. New leaves are noted as the time when they were asked for, so the request is carried out once that
// is written; new authorities have to wait until the former ones are gone.
func (d *Decision) rotation(o Observed) (r rotation) {
	if o.Rotate == "" || o.Rotate == o.Rotated {
		return r
	}
	what, _, found := strings.Cut(o.Rotate, ":")
	switch {
	case o.Managed == nil:
		d.warn("the annotation %s has no effect: the operator issues certificates in mode managed only", v1beta2.AnnotationRotate)
		return r
	case what == "ca" && o.Managed.Issued != nil:
		d.warn("the annotation %s: ca has no effect, because cert-manager issues the authorities: have it renew the Certificates %s and %s",
			v1beta2.AnnotationRotate, IssuedName(o.Names.Cluster, true), IssuedName(o.Names.Cluster, false))
		return r
	case !found || what != "ca" && what != "leaves":
		d.warn("the annotation %s is %.40q: it has to begin with ca: or leaves:", v1beta2.AnnotationRotate, o.Rotate)
		return r
	case what == "leaves":
		r.leaves = true
	default:
		for _, h := range sides(o) {
			if readSigners(o, h).former != nil {
				return r
			}
		}
		r.authorities = true
	}
	d.Rotated = o.Rotate
	return r
}

func (d *Decision) warn(format string, arguments ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, arguments...))
}

// report is what the user is to know.
func (d *Decision) report(o Observed, views []*view) {
	var steps []string
	if d.Recording {
		steps = append(steps, "recording the authorities")
	}
	for _, w := range views {
		d.Expired = append(d.Expired, w.expired...)
		if w.source != nil {
			d.Warnings = append(d.Warnings, w.source.warnings...)
		}
		if step := w.step(); step != "" {
			steps = append(steps, "connections "+w.what+": "+step)
		}
		d.AskServed = d.AskServed || w.verdict.ask
		d.Certificates = append(d.Certificates, w.infos()...)
	}
	share(d.Certificates)
	d.Warnings = append(d.Warnings, common(o, views)...)
	d.problems(views)
	if len(d.Waiting) > 0 {
		steps = append(steps, "no certificate that all members accept can be given yet to "+strings.Join(d.Waiting, ", "))
	}
	d.Settled = len(d.Writes)+len(steps) == 0 && d.Problem == nil
	d.Certified = d.certified(views)
	if d.Step = strings.Join(steps, "; "); d.Step == "" && len(d.Writes) > 0 {
		d.Step = "writing certificates"
	}
	d.Next = due(o, views, d.Certificates)
}

// problems say what is wrong with the sources. An issuer blocks only a side that has no authority yet.
func (d *Decision) problems(views []*view) {
	var invalid, issuers, blocking []string
	var notRoot *notRootError
	for _, w := range views {
		if w.problem != nil {
			invalid = append(invalid, w.problem.Error())
			if errors.As(w.problem, &notRoot) {
				d.AskAuth = notRoot.ask
			}
		}
		if w.issuer != nil {
			issuers = append(issuers, w.issuer.Error())
			if w.source == nil {
				blocking = append(blocking, w.issuer.Error())
			}
		}
	}
	reason := v1beta2.ReasonCertificatesInvalid
	switch {
	case notRoot != nil:
		reason = v1beta2.ReasonOperatorNotRoot
	case len(invalid) == 0:
		reason = v1beta2.ReasonIssuerUnavailable
	}
	problem := func(all []string) *failure.Problem {
		if len(all) == 0 {
			return nil
		}
		return &failure.Problem{Reason: reason, Message: strings.Join(all, "; ")}
	}
	d.Problem, d.Blocking = problem(slices.Concat(invalid, issuers)), problem(slices.Concat(invalid, blocking))
}

// certified computes Certified.
func (d *Decision) certified(views []*view) bool {
	users := func(w Write) bool { return w.Kind == KindUser }
	own := slices.DeleteFunc(slices.Clone(d.Writes), users)
	return d.Blocking == nil && !d.Recording && len(own)+len(d.Waiting) == 0 &&
		!slices.ContainsFunc(views, func(w *view) bool { return w.source == nil || w.progress() != "" })
}

// due is when something is to be done next that only the time brings about.
func due(o Observed, views []*view, infos []Info) (next time.Time) {
	at := func(t time.Time) {
		if t.After(o.Now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, i := range infos {
		at(i.RenewAt)
		at(i.NotAfter)
	}
	for _, w := range views {
		if w.o.Managed != nil && w.o.Managed.Issued == nil && w.signers.current != nil {
			at(w.signers.due())
		}
	}
	return next
}
