package member

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

// MaxLearners is given to every etcd that knows the option. It must be the same on all members: each applies its own
// limit to a membership change, and different answers would split the membership.
const MaxLearners = 8

// Start is one start of etcd: on data that is there if InitialCluster is empty.
type Start struct {
	State          string // "new" or "existing"
	InitialCluster string
	Token          string
	// ListenHost is the address to listen on: 0.0.0.0, or [::] where pods have IPv6 addresses.
	ListenHost string
}

// Render writes etcd's configuration file for the version that is about to start. Every key that matters is explicit:
// with a configuration file etcd ignores flags and environment, an omitted initial-cluster-state means "new", and 3.5
// leaves auto-compaction-mode empty.
func Render(c Config, s Start, version string) ([]byte, error) {
	parsed, err := semver.NewVersion(version)
	if err != nil {
		return nil, fmt.Errorf("etcd's version %q: %w", version, err)
	}
	file := map[string]any{
		"name":                        c.Name,
		"data-dir":                    c.DataDir,
		"listen-peer-urls":            "http://" + s.ListenHost + ":2380",
		"listen-client-urls":          "http://" + s.ListenHost + ":2379",
		"listen-metrics-urls":         "http://" + s.ListenHost + ":2381",
		"initial-advertise-peer-urls": c.PeerURL,
		"advertise-client-urls":       c.ClientURL,
		"initial-cluster-state":       s.State,
		"initial-cluster":             s.InitialCluster,
		"initial-cluster-token":       s.Token,
		"strict-reconfig-check":       true,
		"auto-compaction-mode":        "periodic",
		"auto-compaction-retention":   "0",
		"logger":                      "zap",
		"log-outputs":                 []string{"stderr"},
	}
	if parsed.Minor() >= 6 {
		file["max-learners"] = MaxLearners
	}
	var gates []string
	for key, text := range c.Options {
		o, ok := options[key]
		if !ok {
			return nil, fmt.Errorf("etcd's option %q is not known", key)
		}
		value, err := o.value(text)
		if err != nil {
			return nil, fmt.Errorf("etcd's option %s: %w", key, err)
		}
		if o.gate != "" && parsed.Minor() >= 6 {
			gates = append(gates, fmt.Sprintf("%s=%v", o.gate, value))
			continue
		}
		file[o.key(key, parsed.Minor())] = value
	}
	if len(gates) > 0 {
		file["feature-gates"] = strings.Join(sorted(gates), ",")
	}
	return yaml.Marshal(file)
}
