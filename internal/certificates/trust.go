package certificates

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// CheckTrust returns an error if a trust Secret of that name is not as the operator has written it, or cannot be read. What members trust
// is unknown then.
func CheckTrust(cluster, name string, data map[string][]byte) error {
	if name != TrustName(cluster, Hash(data)) {
		return fmt.Errorf("Secret %s holds other authorities than its name says (keys: %s): somebody has replaced it", //nolint:staticcheck // a kind begins it
			name, strings.Join(slices.Sorted(maps.Keys(data)), ", "))
	}
	for _, h := range []half{peers, clients} {
		text, found := data[h.ca]
		if !found {
			continue
		}
		if _, err := pki.ParseAuthorities(pki.Text{Name: fmt.Sprintf("key %s of Secret %s", h.ca, name), PEM: text, Own: true}); err != nil {
			return err
		}
	}
	return nil
}

// Hold changes no certificate while it is unknown what members trust: a leaf that some cannot verify would cut them off. The operator stays
// who it is, nothing that is recorded is forgotten, and nothing counts as done.
func (d *Decision) Hold(o Observed) {
	d.Writes, d.Rotated, d.Roots, d.AskServed, d.Settled, d.Certified = nil, o.Rotated, o.Roots, false, false, false
	d.Authorities = union(o.Authorities, d.Authorities)
	switch {
	case o.Operator != nil && (d.Operator == nil || validAt(o.Operator.Certificate, o.Now)):
		d.Operator = o.Operator
	case d.held != nil:
		d.Operator = d.held
	}
}

// Forget drops what a decision needs no more after Hold: what takes the operator's place there, which has a private key of the agents', and what
// new pods are to trust if the Secret of that TrustHash holds it. A decision is kept for minutes, of each cluster.
func (d *Decision) Forget(stored bool) {
	d.held = nil
	if stored {
		d.Trust = nil
	}
}

// held is what an operator connects with that does not know what members trust, nor who it was before: what agents have, which all members
// accepted when they got it. It accepts members by all authorities that any of them may have a certificate of.
func (w *view) held(decided *Identity) *Identity {
	held := *decided
	if agents := (Source{Data: w.o.Agent}); validAt(agents.Data[KeyClientCertificate], w.o.Now) {
		if g, err := agents.pair(KeyClientCertificate, KeyClientKey); err == nil {
			held.Certificate, held.Key = g.certificate, g.key
		}
	}
	held.Roots = w.known.encode(slices.DeleteFunc(slices.Clone(w.vouched), func(a string) bool { return w.known.all[a] == nil }))
	return &held
}

// validAt reports whether a certificate has not expired.
func validAt(text []byte, now time.Time) bool {
	chain, err := pki.ParseCertificates(pki.Text{PEM: text, Own: true})
	return err == nil && now.Before(chain[0].NotAfter)
}

// keep is Hold while trust Secrets are altered.
func (d *Decision) keep(o Observed) {
	again := TrustName(o.Names.Cluster, d.TrustHash) // what would be written if nothing was in its place
	d.Hold(o)
	d.Trust, d.TrustHash = nil, ""
	d.Step = "keeping the certificates that are in use"
	var problems []string
	for _, a := range o.Altered {
		problems = append(problems, a.Why+": "+a.mend(o.Names, again))
	}
	d.Block(failure.Problem{Reason: v1beta2.ReasonCertificatesInvalid, Message: strings.Join(slices.Compact(slices.Sorted(slices.Values(problems))), "; ") +
		". Until then no certificate is changed, because it is unknown what members trust"})
}

// mend says what to do. The Secret is immutable, so it can be replaced only by way of its deletion, which the operator has no right to.
func (a Altered) mend(n Names, again string) string {
	then := "the operator creates it again, or says what else it takes"
	if a.Secret == again {
		then = "the operator creates it again as it was"
	}
	return fmt.Sprintf("delete it (kubectl -n %s delete secret %s), and %s", n.Namespace, a.Secret, then)
}
