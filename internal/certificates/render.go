package certificates

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// render turns the verdicts into Secrets.
func (d *Decision) render(o Observed, views []*view, random io.Reader) error {
	for _, w := range views {
		for i, pick := range w.verdict.picks {
			if pick == keep {
				continue
			}
			if err := w.fill(&w.places[i], w.places[i].drafts[pick], random); err != nil {
				return err
			}
		}
	}
	d.trust(o, views)
	d.authority(o, views)
	for _, w := range views {
		if w.half == clients {
			d.clients(o, w)
		}
	}
	d.members(o, views)
	return nil
}

// fill puts a draft in its place.
func (w *view) fill(p *place, d draft, random io.Reader) error {
	if d.by == nil {
		pair, err := pki.ParsePair(pki.Text{Name: w.certificate, PEM: d.certificate, Own: true}, pki.Text{Name: w.key, PEM: d.key})
		if err != nil {
			return fmt.Errorf("read again what was read before: %w", err)
		}
		p.certificate, p.key, p.pair = d.certificate, d.key, pair
		return nil
	}
	r := p.request
	r.Now, r.Lifetime = w.o.Now, w.o.Managed.leafLifetime()
	made, err := pki.Issue(random, d.by.Pair, r)
	if err == nil {
		p.pair = made
		p.certificate, p.key, err = made.Encode()
	}
	if err != nil {
		return fmt.Errorf("issue a certificate for connections %s: %w", w.what, err)
	}
	return nil
}

// trust is for new pods. If one side has none yet, no pod can be created.
func (d *Decision) trust(o Observed, views []*view) {
	data := map[string][]byte{}
	for _, w := range views {
		if len(w.verdict.trust) == 0 {
			return
		}
		data[w.ca] = w.known.encode(w.verdict.trust)
	}
	if len(data) == 0 {
		return
	}
	d.Trust, d.TrustHash = data, Hash(data)
	for _, p := range o.Pods {
		if p.trusts(data) {
			d.Trusting = append(d.Trusting, p.Name)
		}
	}
}

// Hash is TrustHash of the data of a trust Secret: 32 hexadecimal digits. So many that nobody can find other authorities with the same
// hash: who may delete and create Secrets could put those in place of the cluster's.
func Hash(data map[string][]byte) string {
	const digits = 32
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		for _, part := range [][]byte{[]byte(key), data[key]} {
			_ = binary.Write(sum, binary.BigEndian, uint64(len(part))) // a hash never fails
			_, _ = sum.Write(part)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:digits]
}

// write adds a Secret if it is to be another than it is.
func (d *Decision) write(kind Kind, member string, have, want map[string][]byte) {
	if maps.EqualFunc(have, want, bytes.Equal) {
		return
	}
	refresh := kind == KindClient || kind == KindUser // One that is created may have been deleted before, and still be in use.
	d.Writes = append(d.Writes, Write{Kind: kind, Member: member, Data: want, Refresh: refresh && !sameAuthorities(have, want)})
}

// user adds the Secret of a user. Nobody has to read that of a new one again.
func (d *Decision) user(o Observed, p place, want map[string][]byte) {
	n := len(d.Writes)
	d.write(KindUser, p.member, dataOf(o.Users, p.member), want)
	isNew := func(u User) bool { return u.Secret == p.member && u.New }
	if len(d.Writes) > n && slices.ContainsFunc(o.Users, isNew) && dataOf(o.Users, p.member) == nil {
		d.Writes[n].Refresh = false
	}
}

// sameAuthorities reports whether two versions of a Secret for applications name the same to trust, and hold certificates of the same one.
func sameAuthorities(a, b map[string][]byte) bool {
	return bytes.Equal(a[KeyCA], b[KeyCA]) && issuer(a[KeyCertificate]) != "" && issuer(a[KeyCertificate]) == issuer(b[KeyCertificate])
}

// issuer identifies the authority of a certificate by its key, empty if that cannot be told.
func issuer(certificate []byte) string {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return ""
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	return string(leaf.AuthorityKeyId)
}

// authority is written first: an authority that is lost after it has signed could not be trusted by anybody. In mode static those of
// an earlier mode managed are wiped once nobody needs them.
func (d *Decision) authority(o Observed, views []*view) {
	if o.Managed == nil && o.Authority == nil || len(views) == 0 {
		return
	}
	data, renew := map[string][]byte{}, time.Time{}
	for _, w := range views {
		w.signers.write(w.half, data)
		if w.signers.renew.After(renew) {
			renew = w.signers.renew
		}
	}
	if !renew.IsZero() && slices.ContainsFunc(views, func(w *view) bool { return w.o.Managed != nil }) {
		data[keyRenew] = []byte(renew.UTC().Format(time.RFC3339))
	}
	have := o.Authority
	if d.Rotated != o.Rotated {
		have = nil // The annotation has to be written with it, whatever the data is.
	}
	d.write(KindAuthority, "", have, data)
}

// clients writes what agents and applications get, and keeps the operator's own.
func (d *Decision) clients(o Observed, w *view) {
	roots := w.known.encode(w.verdict.roots)
	d.applications(o, w)
	for _, p := range w.places {
		switch {
		case p.kind == KindMember || p.pair == nil || len(roots) == 0:
			continue
		case p.kind == KindAgent:
			d.write(KindAgent, "", o.Agent, map[string][]byte{
				KeyClientCA: roots, KeyClientCertificate: p.certificate, KeyClientKey: p.key,
			})
		case p.kind == KindClient:
			d.write(KindClient, "", o.Client, forApplications(o, p, roots))
		case p.kind == KindUser:
			d.user(o, p, forApplications(o, p, roots))
		}
		if p.kind == kindOperator || p.kind == KindAgent && o.Managed == nil {
			d.Operator = &Identity{Certificate: p.certificate, Key: p.key, Roots: roots}
			d.held = w.held(d.Operator)
		}
	}
}

// applications names their Secrets, and goes on telling them where to connect although nobody issues their certificates any more.
func (d *Decision) applications(o Observed, w *view) {
	if w.o.Managed != nil {
		d.Applications = append(d.Applications, ClientName(o.Names.Cluster))
		for _, u := range o.Users {
			d.Applications = append(d.Applications, u.Secret)
		}
		return
	}
	if !clients.of(o.Leaving) { // they have the user's
		return
	}
	tell := func(kind Kind, member, secret string, have map[string][]byte) {
		if have[KeyEndpoints] == nil {
			return
		}
		want := maps.Clone(have)
		want[KeyEndpoints] = []byte(o.Endpoints)
		d.write(kind, member, have, want)
		d.Applications = append(d.Applications, secret)
	}
	tell(KindClient, "", ClientName(o.Names.Cluster), o.Client)
	for _, u := range o.Users {
		tell(KindUser, u.Secret, u.Secret, u.Data)
	}
}

// forApplications is what applications read: the usual keys, and those of coreos/etcd-operator.
func forApplications(o Observed, p place, roots []byte) map[string][]byte {
	return map[string][]byte{
		KeyCA: roots, KeyCertificate: p.certificate, KeyKey: p.key, KeyEndpoints: []byte(o.Endpoints),
		KeyClientCA: roots, KeyClientCertificate: p.certificate, KeyClientKey: p.key,
	}
}

func dataOf(users []User, secret string) map[string][]byte {
	for _, u := range users {
		if u.Secret == secret {
			return u.Data
		}
	}
	return nil
}

// members writes the members' Secrets. Each has all of its keys: a pod starts with what is there.
func (d *Decision) members(o Observed, views []*view) {
	data, complete := map[string]map[string][]byte{}, map[string]bool{}
	for _, w := range views {
		for _, p := range w.places {
			if p.kind != KindMember {
				continue
			}
			if data[p.member] == nil {
				data[p.member], complete[p.member] = map[string][]byte{}, true
			}
			data[p.member][w.certificate], data[p.member][w.key] = p.certificate, p.key
			complete[p.member] = complete[p.member] && p.pair != nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if complete[name] {
			d.write(KindMember, name, o.Published[name], data[name])
		} else {
			d.Waiting = append(d.Waiting, name)
		}
	}
}
