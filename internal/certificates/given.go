package certificates

import (
	"bytes"
	"crypto/x509"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// Who may change a Certificate of cert-manager's can have it use a key of theirs for the next authority: that of an application's certificate,
// for example, if they name its Secret for a moment.

// given reports whether an authority has the key of a certificate that the operator has issued to somebody in this cluster. Others do not count:
// who may write to one of these Secrets could keep any authority from being used.
func (o Observed) given(authority *x509.Certificate) bool {
	ofPeers, ofClients := readSigners(o, peers), readSigners(o, clients)
	issuers := slices.Concat(ofPeers.all(), ofClients.all())
	return slices.ContainsFunc(o.leaves(), func(text []byte) bool {
		chain, err := pki.ParseCertificates(pki.Text{PEM: text})
		return err == nil && len(chain) > 0 && bytes.Equal(chain[0].RawSubjectPublicKeyInfo, authority.RawSubjectPublicKeyInfo) &&
			slices.ContainsFunc(issuers, func(s *signer) bool { return chain[0].CheckSignatureFrom(s.Leaf()) == nil })
	})
}

// leaves are the certificates, in PEM, in the Secrets of members, agents and applications.
func (o Observed) leaves() [][]byte {
	all := [][]byte{o.Client[KeyCertificate], o.Agent[KeyClientCertificate]}
	for _, data := range o.Published {
		all = append(all, data[KeyPeerCertificate], data[KeyServerCertificate])
	}
	for _, u := range o.Users {
		all = append(all, u.Data[KeyCertificate])
	}
	return all
}
