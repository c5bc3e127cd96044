package member

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/transport"
)

// TestConfigWithoutTLS holds that a member without TLS is told nothing of it: another configuration would be another pod.
func TestConfigWithoutTLS(t *testing.T) {
	text, err := json.Marshal(testConfig())
	if err != nil || strings.Contains(string(text), "transport") {
		t.Errorf("%s, %v", text, err)
	}
	secured := testConfig()
	secured.Transport.PeerTLS = true
	if text, err = json.Marshal(secured); err != nil {
		t.Fatal(err)
	}
	got, err := ParseConfig(string(text))
	if err != nil || got.Transport != secured.Transport {
		t.Errorf("ParseConfig(%s) = %+v, %v", text, got, err)
	}
}

func TestURLs(t *testing.T) {
	for _, c := range []struct {
		transport    Transport
		peer, client string
	}{
		{Transport{}, "http://h:2380", "http://h:2379"},
		{Transport{PeerTLS: true}, "https://h:2380", "http://h:2379"},
		{Transport{ClientTLS: true}, "http://h:2380", "https://h:2379"},
		{Transport{PeerTLS: true, ClientTLS: true}, "https://h:2380", "https://h:2379"},
		{Transport{PeerBoth: true, ClientBoth: true}, "http://h:2380", "http://h:2379"},
		{Transport{PeerTLS: true, PeerBoth: true, PeerPort: OtherPeerPort}, "https://h:2382", "http://h:2379"},
		{Transport{PeerPort: OtherPeerPort}, "http://h:2382", "http://h:2379"},
	} {
		if peer, client := PeerURL("h", c.transport), ClientURL("h", c.transport); peer != c.peer || client != c.client {
			t.Errorf("%+v: %s and %s, want %s and %s", c.transport, peer, client, c.peer, c.client)
		}
	}
}

func TestPeerURLAt(t *testing.T) {
	secured := Transport{PeerTLS: true, PeerPort: OtherPeerPort}
	for listed, want := range map[string]string{
		"http://h.db.prod.svc:2380":  "https://h.db.prod.svc:2382",
		"https://h.db.prod.svc:2382": "https://h.db.prod.svc:2382",
		"http://[fd00::1]:2380":      "https://[fd00::1]:2382",
		"nonsense":                   "nonsense",
		"":                           "",
	} {
		if got := secured.PeerURLAt(listed); got != want {
			t.Errorf("%q: %q, want %q", listed, got, want)
		}
	}
}

// TestServesBothSchemes has etcd serve clients on one port with and without TLS, and holds that nothing of a member says which of them clients
// are told to use.
func TestServesBothSchemes(t *testing.T) {
	var rendered [][]byte
	for _, given := range []Transport{{ClientBoth: true}, {ClientTLS: true, ClientBoth: true}} {
		config := testConfig()
		config.Transport = given.Served()
		config.ClientURL = ClientURL(Host(config.Name, "db", "prod", ""), config.Transport)
		got := read(t, config, Start{State: StateExisting, ListenHost: "0.0.0.0"})
		var listen, advertise []string
		for i := range got.ListenClientUrls {
			listen = append(listen, got.ListenClientUrls[i].String())
			advertise = append(advertise, got.AdvertiseClientUrls[i].Scheme)
		}
		if !slices.Equal(listen, []string{"http://0.0.0.0:2379", "https://0.0.0.0:2379"}) || !slices.Equal(advertise, []string{"http", "https"}) ||
			!got.ClientTLSInfo.ClientCertAuth {
			t.Errorf("%+v: it listens on %v, tells clients of %v, and asks for certificates: %t", given, listen, advertise, got.ClientTLSInfo.ClientCertAuth)
		}
		text, err := Render(config, Start{State: StateExisting, ListenHost: "0.0.0.0"}, "3.6.16")
		if err != nil {
			t.Fatal(err)
		}
		rendered = append(rendered, text)
	}
	if !slices.Equal(rendered[0], rendered[1]) {
		t.Errorf("what clients are told changes the member:\n%s\n%s", rendered[0], rendered[1])
	}
}

// TestServesPeersByBothSchemes has etcd serve peers with and without TLS, each on a port of its own, whichever of the two a switch began on,
// and holds that nothing of a member says which of them is in the member list.
func TestServesPeersByBothSchemes(t *testing.T) {
	for name, c := range map[string]struct {
		begins Transport
		want   []string
	}{
		"from plain text":             {Transport{}, []string{"http://0.0.0.0:2380", "https://0.0.0.0:2382"}},
		"from TLS":                    {Transport{PeerTLS: true}, []string{"http://0.0.0.0:2382", "https://0.0.0.0:2380"}},
		"from plain text, once more":  {Transport{PeerPort: OtherPeerPort}, []string{"http://0.0.0.0:2382", "https://0.0.0.0:2380"}},
		"from TLS, where it is after": {Transport{PeerTLS: true, PeerPort: OtherPeerPort}, []string{"http://0.0.0.0:2380", "https://0.0.0.0:2382"}},
	} {
		both := c.begins
		both.PeerBoth = true
		var rendered [][]byte
		for _, given := range []Transport{both, both.OtherPeers()} {
			config := testConfig()
			config.Transport = given.Served()
			config.PeerURL = PeerURL(Host(config.Name, "db", "prod", ""), config.Transport)
			text, err := Render(config, Start{State: StateExisting, ListenHost: "0.0.0.0"}, "3.6.16")
			if err != nil {
				t.Fatal(err)
			}
			rendered = append(rendered, text)
			got := read(t, config, Start{State: StateExisting, ListenHost: "0.0.0.0"})
			var listen []string
			for i := range got.ListenPeerUrls {
				listen = append(listen, got.ListenPeerUrls[i].String())
			}
			if !slices.Equal(listen, c.want) || !got.PeerTLSInfo.ClientCertAuth || len(got.PeerTLSInfo.AllowedHostnames) != 2 {
				t.Errorf("%s: it listens on %v by %+v", name, listen, got.PeerTLSInfo)
			}
		}
		if !slices.Equal(rendered[0], rendered[1]) {
			t.Errorf("%s: what is in the list changes the member:\n%s\n%s", name, rendered[0], rendered[1])
		}
		if back := both.OtherPeers().OtherPeers(); back != both {
			t.Errorf("%s: back again it is %+v", name, back)
		}
	}
}

// TestJoinsByItsListedURL has a learner advertise the URL that it was added with, which the pod's own configuration does not know: etcd
// starts with no other one.
func TestJoinsByItsListedURL(t *testing.T) {
	config := testConfig()
	config.Transport = Transport{PeerTLS: true, PeerBoth: true, PeerPort: OtherPeerPort}
	host := Host(config.Name, "db", "prod", "")
	config.PeerURL = PeerURL(host, config.Transport)
	added := PeerURL(host, Transport{})
	for cluster, want := range map[string]string{
		"x=http://x:2380," + config.Name + "=" + added + ",y=http://y:2380": added,
		config.Name + "=" + config.PeerURL + ",y=http://y:2380":             config.PeerURL,
		"": config.PeerURL,
	} {
		got := read(t, config, Start{State: StateExisting, InitialCluster: cluster, ListenHost: "0.0.0.0"})
		if len(got.AdvertisePeerUrls) != 1 || got.AdvertisePeerUrls[0].String() != want {
			t.Errorf("%q: it advertises %v", cluster, got.AdvertisePeerUrls)
		}
	}
}

// TestEtcdReadsTheTransport lets etcd's own parser read what was rendered: it says nothing of a key that it ignores.
func TestEtcdReadsTheTransport(t *testing.T) {
	for _, given := range []Transport{{}, {PeerTLS: true}, {ClientTLS: true}, {PeerTLS: true, ClientTLS: true}} {
		config := testConfig()
		config.Transport = given
		host := Host(config.Name, "db", "prod", "")
		config.PeerURL, config.ClientURL = PeerURL(host, given), ClientURL(host, given)
		got := read(t, config, Start{State: StateExisting, ListenHost: "0.0.0.0"})
		for what, side := range map[string]struct {
			tls    bool
			listen string
			info   transport.TLSInfo
			files  []string
		}{
			"peers": {given.PeerTLS, got.ListenPeerUrls[0].Scheme, got.PeerTLSInfo, []string{
				"/etc/etcdtls/member/peer.crt", "/etc/etcdtls/member/peer.key", "/etc/etcdtls/trust/peer-ca.crt",
			}},
			"clients": {given.ClientTLS, got.ListenClientUrls[0].Scheme, got.ClientTLSInfo, []string{
				"/etc/etcdtls/member/server.crt", "/etc/etcdtls/member/server.key", "/etc/etcdtls/trust/server-ca.crt",
			}},
		} {
			if !side.tls {
				side.files = []string{"", "", ""}
			}
			files := []string{side.info.CertFile, side.info.KeyFile, side.info.TrustedCAFile}
			if !slices.Equal(files, side.files) || side.info.ClientCertAuth != side.tls || side.listen != scheme(side.tls) {
				t.Errorf("%+v: %s listen on %s with %v, client-cert-auth %t", given, what, side.listen, files, side.info.ClientCertAuth)
			}
		}
		if scheme := got.ListenMetricsUrls[0].Scheme; scheme != "http" {
			t.Errorf("%+v: metrics are on %s", given, scheme)
		}
	}
}
