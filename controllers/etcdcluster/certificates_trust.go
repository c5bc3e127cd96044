package etcdcluster

import (
	"context"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// trust is data of a Secret with authorities. One that is not as its name says is not used, and reported.
func (s *secretsReader) trust(ctx context.Context, name string) map[string][]byte {
	data := s.data(ctx, name)
	if data == nil {
		return nil
	}
	if err := certificates.CheckTrust(s.p.cluster.Name, name, data); err != nil {
		s.altered = append(s.altered, certificates.Altered{Secret: name, Why: err.Error()})
		delete(s.own, name)
		return nil
	}
	return data
}

// authorities are the fingerprints of the cluster's own that status is to record: those decided on that the Secret holds, so that nothing
// is recorded that could not be written.
func (p *pass) authorities() []string {
	secret := p.certified.secrets[certificates.AuthorityName(p.cluster.Name)]
	if secret == nil { // or it may not be read
		return p.before.Authorities
	}
	return slices.DeleteFunc(slices.Clone(secret.authorities), func(a string) bool { return !slices.Contains(p.certified.Authorities, a) })
}

// roots are the fingerprints of the authorities by which clients accept members that status is to record: what it has while none is decided
// on, as when no Secret may be read.
func (p *pass) roots() []string {
	if len(p.certified.Roots) == 0 {
		return p.before.Roots
	}
	return p.certified.Roots
}
