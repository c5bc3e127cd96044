package member

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

// Ports that a member listens on. Metrics and health are plain HTTP, since a kubelet has no client certificate.
const (
	ClientPort  = 2379
	PeerPort    = 2380
	MetricsPort = 2381
	// OtherPeerPort is in use, beside PeerPort or in its place, once peers of a running cluster were switched between plain text and TLS.
	OtherPeerPort = 2382
)

// MaxLearners is given to every etcd that knows the option. It must be the same on all members: each applies its own
// limit to a membership change, and different answers would split the membership.
const MaxLearners = 8

// Values of Start.State, etcd's initial-cluster-state.
const (
	StateNew      = "new"
	StateExisting = "existing"
)

// Start is one start of etcd.
type Start struct {
	// State is StateNew or StateExisting.
	State string
	// InitialCluster and Token are the permit's. With existing data InitialCluster is empty: etcd reads its peers from the
	// log, and with only itself in the list it cannot start should the log turn out to be gone.
	InitialCluster string
	Token          string
	// ListenHost is the address to listen on: 0.0.0.0, or [::] where pods have IPv6 addresses.
	ListenHost string
}

// Render writes etcd's configuration file for the version that is about to start, 3.5, 3.6 or 3.7. Every key that
// matters is explicit: with a configuration file etcd ignores flags and environment, an omitted initial-cluster-state
// means "new", and 3.5 leaves auto-compaction-mode empty. etcd ignores unknown keys.
func Render(c Config, s Start, version string) ([]byte, error) {
	minor, err := minorOf(version)
	if err != nil {
		return nil, err
	}
	listen := func(scheme string, port int) string { return fmt.Sprintf("%s://%s:%d", scheme, s.ListenHost, port) }
	if s.InitialCluster == "" {
		s.InitialCluster = c.Name + "=" + c.PeerURL
	}
	own := urlIn(s.InitialCluster, c.Name)
	file := map[string]any{
		"name":                        c.Name,
		"data-dir":                    c.DataDir,
		"listen-peer-urls":            strings.Join(listenForPeers(c.Transport, s.ListenHost), ","),
		"listen-client-urls":          strings.Join(listenForClients(c.Transport, s.ListenHost), ","),
		"listen-metrics-urls":         listen("http", MetricsPort),
		"initial-advertise-peer-urls": cmp.Or(own, c.PeerURL),
		"advertise-client-urls":       strings.Join(advertised(c), ","),
		"initial-cluster-state":       s.State,
		"initial-cluster":             s.InitialCluster,
		"initial-cluster-token":       s.Token,
		"strict-reconfig-check":       true,
		"auto-compaction-mode":        "periodic",
		"auto-compaction-retention":   "0",
		"logger":                      "zap",
		"log-outputs":                 []string{"stderr"},
	}
	if minor >= 6 {
		file["max-learners"] = MaxLearners
	}
	addSecurity(file, c.Transport)
	if c.Transport.ServesPeerTLS() && listsHostnames(version) {
		if err := addPeers(file, c.PeerURL); err != nil {
			return nil, err
		}
	}
	if err := addOptions(file, c.Options, minor); err != nil {
		return nil, err
	}
	return yaml.Marshal(file)
}

// urlIn is the URL of the member with that name in etcd's list of name=url, empty if it is not in it. A learner has to advertise the one
// that it was added with, and may be told of another one later (etcd compares them: advertiseMatchesCluster in its configuration).
func urlIn(initialCluster, name string) string {
	for pair := range strings.SplitSeq(initialCluster, ",") {
		if url, found := strings.CutPrefix(pair, name+"="); found {
			return url
		}
	}
	return ""
}

// listenForPeers are the URLs that other members are served on: each scheme on a port of its own, because etcd makes a listener for each
// URL (embed/etcd.go, configurePeerListeners).
func listenForPeers(t Transport, host string) []string {
	switch {
	case !t.PeerBoth:
		return []string{PeerURL(host, t)}
	case t.PeerTLS:
		t = t.OtherPeers()
	}
	return []string{PeerURL(host, t), PeerURL(host, t.OtherPeers())}
}

// listenForClients are the URLs that clients are served on. etcd serves both schemes on one port (embed/serve.go, serveCtx.serve).
func listenForClients(t Transport, host string) (urls []string) {
	if t.ServesClientPlain() {
		urls = append(urls, ClientURL(host, Transport{}))
	}
	if t.ServesClientTLS() {
		urls = append(urls, ClientURL(host, Transport{ClientTLS: true}))
	}
	return urls
}

// advertised are the URLs that etcd tells clients.
func advertised(c Config) []string {
	if !c.Transport.ClientBoth {
		return []string{c.ClientURL}
	}
	_, address, _ := strings.Cut(c.ClientURL, "://")
	return []string{scheme(false) + "://" + address, scheme(true) + "://" + address}
}

// addSecurity has each side with TLS present the member's own certificate and accept only those of its authorities. The authorities alone
// would make etcd demand a certificate, but without client-cert-auth it would not take its common name for a user.
func addSecurity(file map[string]any, t Transport) {
	if !t.SecuresAny() {
		return
	}
	file["tls-min-version"] = "TLS1.2"
	for _, side := range t.Sides() {
		file[side.section] = map[string]any{
			"cert-file":        path.Join(CertificatesDir, side.Cert),
			"key-file":         path.Join(CertificatesDir, side.Key),
			"trusted-ca-file":  path.Join(TrustDir, side.Authorities),
			"client-cert-auth": true,
		}
	}
}

// addPeers has the member take for peers, whether it connects to them or they to it, only those whose certificate stands for a name of
// members: what all have in common, or this one's own, which a wildcard covers, and which a certificate that all share has to name. A
// client's certificate of the same authority is none, then. etcd's other check, of the address that a peer connects from, lets one without
// any names pass (client/pkg/transport, checkCertSAN).
func addPeers(file map[string]any, peerURL string) error {
	own, err := url.Parse(peerURL)
	if err != nil {
		return fmt.Errorf("the member's peer URL: %w", err)
	}
	allowed := []string{own.Hostname()}
	if _, common, found := strings.Cut(own.Hostname(), "."); found {
		allowed = append(allowed, common)
	}
	peers, _ := file[peerSection].(map[string]any)
	peers["allowed-hostname"] = allowed
	return nil
}

// listsHostnames reports whether a version of etcd takes a list of allowed-hostname: 3.5.14 takes a single one, and does not start with
// more, and those before it ignore it.
func listsHostnames(version string) bool {
	v, err := semver.NewVersion(version)
	return err == nil && !v.LessThan(semver.New(3, 5, 15, "", "")) //nolint:mnd // that version
}

// minorOf refuses versions whose configuration keys are not known here.
func minorOf(version string) (uint64, error) {
	parsed, err := semver.NewVersion(version)
	if err != nil {
		return 0, fmt.Errorf("etcd's version %q: %w", version, err)
	}
	if parsed.Major() != 3 || parsed.Minor() < 5 || parsed.Minor() > 7 {
		return 0, fmt.Errorf("etcd %s is not supported: it must be 3.5, 3.6 or 3.7", version)
	}
	return parsed.Minor(), nil
}

func addOptions(file map[string]any, given map[string]string, minor uint64) error {
	all := maps.Clone(defaults)
	maps.Copy(all, given)
	var gates []string
	for name, text := range all {
		o, ok := options[name]
		if !ok {
			return fmt.Errorf("etcd's option %q is not known", name)
		}
		value, err := o.parse(text)
		if err != nil {
			return fmt.Errorf("etcd's option %s: %w", name, err)
		}
		switch {
		case minor < o.since:
			// The spec is validated for its own version: older ones on the way there ignore the option.
		case minor < 6 && o.old != "":
			file[o.old] = value
		case o.gate != "":
			gates = append(gates, fmt.Sprintf("%s=%v", o.gate, value))
		default:
			file[name] = value
		}
	}
	if len(gates) > 0 {
		slices.Sort(gates)
		file["feature-gates"] = strings.Join(gates, ",")
	}
	return nil
}
