package certificates

import (
	"crypto/x509"
	"fmt"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// notRootError refuses a source by which etcd would not take the operator for its user root.
type notRootError struct {
	message string
	// ask is true if it depends on whether etcd's authentication is on, which nobody has asked.
	ask bool
}

func (e *notRootError) Error() string { return e.message }

// staysRoot returns an error if etcd would not, or perhaps not, take the operator for its user root any more. An operator that is root
// becomes another user only while etcd's authentication is certainly off.
func staysRoot(o Observed, client *given) error {
	name, field := client.Leaf().Subject.CommonName, o.Static.Field+".operatorSecret"
	const mend = "issue it with the common name root"
	switch {
	case name == operatorUser:
		return nil
	case o.OperatorIsRoot:
		return &notRootError{message: fmt.Sprintf("%s (%s) has the common name %q, and while etcd's authentication is on it has to be root: %s",
			client.text.Name, field, name, mend)}
	case !o.AuthOff && runsAsRoot(o):
		return &notRootError{ask: true, message: fmt.Sprintf("%s (%s) has the common name %q, the present one is root, and etcd has not said that "+
			"its authentication is off: %s, or wait until a quorum answers", client.text.Name, field, name, mend)}
	}
	return nil
}

// usable is the client certificate that the operator goes on with, nil if there is none that these authorities verify.
func usable(o Observed, trustText pki.Text, trust []*x509.Certificate) *given {
	s := Source{Name: AgentName(o.Names.Cluster), Data: o.Agent}
	g, err := s.pair(KeyClientCertificate, KeyClientKey)
	if err != nil || g.verified(o, trustText, trust, x509.ExtKeyUsageClientAuth) != nil {
		return nil
	}
	return g
}

// runsAsRoot reports whether the operator's present certificate, or the agents', which are the same unless somebody has changed theirs, is
// that of root. One that has expired is nobody's: nothing is lost with it.
func runsAsRoot(o Observed) bool {
	present := [][]byte{o.Agent[KeyClientCertificate]}
	if o.Operator != nil {
		present = append(present, o.Operator.Certificate)
	}
	return slices.ContainsFunc(present, func(text []byte) bool {
		chain, err := pki.ParseCertificates(pki.Text{PEM: text, Own: true})
		return err == nil && chain[0].Subject.CommonName == operatorUser && o.Now.Before(chain[0].NotAfter)
	})
}

// serverIsNotRoot returns an error if clients could be etcd's user root by a member's certificate. The HTTP gateway of a member connects to
// it with the server's certificate, and etcd takes that one's common name for the user unless the gateway has passed on the header Accept,
// which a client can leave out (etcd, server/auth, AuthInfoFromTLS).
func serverIsNotRoot(o Observed, leaf *given) error {
	if (o.AuthWanted || o.OperatorIsRoot) && leaf.Leaf().Subject.CommonName == operatorUser {
		return fmt.Errorf("%s has the common name root, which every client could use over the HTTP gateway (/v3/) with etcd's authentication: "+
			"give servers a certificate of their own, without a common name", leaf.text.Name)
	}
	return nil
}

// serverUser warns of a common name by which the HTTP gateway can be a user.
func serverUser(leaf *given) []string {
	name := leaf.Leaf().Subject.CommonName
	if name == "" || pki.CheckUsages(leaf.text, leaf.Leaf(), x509.ExtKeyUsageClientAuth) != nil {
		return nil
	}
	return []string{fmt.Sprintf("%s has the common name %q: with etcd's authentication, a client without a common name can be that user over the "+
		"HTTP gateway (/v3/). Leave it out", leaf.text.Name, name)}
}
