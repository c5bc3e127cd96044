package etcd_test

import (
	"crypto/tls"
	"slices"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestBothSchemes holds what a switch of clients to TLS is built on: etcd serves http and https on one port, and demands a certificate of
// those who come by https.
func TestBothSchemes(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	c := embedtest.Start(t, 1, func(config *embed.Config) {
		plain := config.ListenClientUrls[0]
		ca.server(t)(config)
		config.ListenClientUrls = slices.Insert(config.ListenClientUrls, 0, plain)
	})
	anonymous := ca.client(t, "root")
	anonymous.Certificates = nil
	pool := newPool(t)
	for name, test := range map[string]struct {
		config *tls.Config
		want   plan.Contact
	}{
		"plain":             {nil, plan.ContactQuorum},
		"TLS":               {ca.client(t, "root"), plan.ContactQuorum},
		"no certificate":    {anonymous, plan.ContactNone},
		"another authority": {newAuthority(t).client(t, "root"), plan.ContactNone},
	} {
		e := endpoints(c.Members...)
		e[0].ServerName = serverName
		if seen := pool.Observe(t.Context(), "default/a", test.config, voting(c.ID, e), e).Seen; seen.Contact != test.want {
			t.Errorf("%s: contact %d, want %d", name, seen.Contact, test.want)
		}
	}
}
