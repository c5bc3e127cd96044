package etcd_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestPeersSwitchSchemes holds what a switch of peers to TLS is built on: members that listen on two ports are moved to https by their
// URLs in the member list, and then serve nothing else, while each of them takes writes.
func TestPeersSwitchSchemes(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	configs := map[string]*embed.Config{}
	c := embedtest.Start(t, 3, func(config *embed.Config) {
		files := *config
		ca.server(t)(&files)
		config.PeerTLSInfo = files.ClientTLSInfo
		// The address that everything has here is none of the certificate's names.
		config.PeerTLSInfo.ServerName, config.PeerTLSInfo.SkipClientSANVerify = serverName, true
		config.ListenPeerUrls = append(config.ListenPeerUrls[:1:1], secondURL(t, config.ListenPeerUrls[0]))
		configs[config.Name] = config
	})
	write := func(after string) {
		for _, m := range c.Members {
			with(t, m, func(ctx context.Context, client *clientv3.Client) error {
				_, err := client.Put(ctx, "key", after)
				return err
			})
		}
	}
	write("equipping all")
	pool := newPool(t)
	for _, m := range c.Members {
		next := configs[m.Name].ListenPeerUrls[1].String()
		s := quorum(t, pool, c.Members...)
		succeeds(t, "announcing "+m.Name, func() error { return s.UpdatePeerURL(t.Context(), m.ID(), next) })
		eventually(t, "a majority that lists it", func() bool {
			s := quorum(t, pool, c.Members...)
			return slices.ContainsFunc(s.Seen.Members, func(l plan.Member) bool { return l.ID == m.ID() && l.PeerURL == next })
		})
		write("announcing " + m.Name)
	}
	for _, m := range c.Members { // one that starts again reads the URLs from its log, whatever its configuration advertises
		m.Stop(t)
		configs[m.Name].ListenPeerUrls = configs[m.Name].ListenPeerUrls[1:]
		m.Start(t)
		m.WaitReady(t)
		write("closing " + m.Name)
	}
}

// secondURL is https on another port of the same host, below those that are reserved.
func secondURL(t *testing.T, first url.URL) url.URL {
	t.Helper()
	const below = 10000
	port, err := strconv.Atoi(first.Port())
	if err != nil {
		t.Fatal(err)
	}
	return url.URL{Scheme: "https", Host: fmt.Sprintf("%s:%d", first.Hostname(), port-below)}
}

// with connects to one member only.
func with(t *testing.T, m *embedtest.Member, do func(context.Context, *clientv3.Client) error) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{m.Address}, Context: t.Context()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	if err := do(ctx, client); err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
}
