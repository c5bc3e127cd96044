package member

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// option is a key of etcd's configuration file that users may set.
type option struct {
	kind kind
	// experimental is true for a key that etcd 3.5 knows only with the prefix "experimental-".
	experimental bool
	// gate is the feature gate that took the key's place in etcd 3.6.
	gate string
}

type kind int

const (
	text kind = iota
	number
	truth
	// duration is written as nanoseconds: etcd's configuration file has no other form.
	duration
)

// options are those of etcd 3.5, 3.6 and 3.7 that do not fight the operator, by their name without a prefix.
var options = map[string]option{
	"snapshot-count":            {kind: number},
	"heartbeat-interval":        {kind: number},
	"election-timeout":          {kind: number},
	"quota-backend-bytes":       {kind: number},
	"max-txn-ops":               {kind: number},
	"max-request-bytes":         {kind: number},
	"max-snapshots":             {kind: number},
	"max-wals":                  {kind: number},
	"max-concurrent-streams":    {kind: number},
	"auto-compaction-mode":      {kind: text},
	"auto-compaction-retention": {kind: text},
	"backend-batch-interval":    {kind: duration},
	"backend-batch-limit":       {kind: number},
	"backend-bbolt-freelist-type": {
		kind: text,
	},
	"grpc-keepalive-min-time":              {kind: duration},
	"grpc-keepalive-interval":              {kind: duration},
	"grpc-keepalive-timeout":               {kind: duration},
	"pre-vote":                             {kind: truth},
	"initial-election-tick-advance":        {kind: truth},
	"auth-token-ttl":                       {kind: number},
	"bcrypt-cost":                          {kind: number},
	"log-level":                            {kind: text},
	"metrics":                              {kind: text},
	"enable-pprof":                         {kind: truth},
	"cors":                                 {kind: text},
	"host-whitelist":                       {kind: text},
	"socket-reuse-port":                    {kind: truth},
	"compact-hash-check-time":              {kind: duration, experimental: true},
	"corrupt-check-time":                   {kind: duration, experimental: true},
	"compaction-batch-limit":               {kind: number, experimental: true},
	"compaction-sleep-interval":            {kind: duration, experimental: true},
	"bootstrap-defrag-threshold-megabytes": {kind: number, experimental: true},
	"snapshot-catchup-entries":             {kind: number, experimental: true},
	"warning-apply-duration":               {kind: duration, experimental: true},
	"warning-unary-request-duration":       {kind: duration, experimental: true},
	"watch-progress-notify-interval":       {kind: duration, experimental: true},
	"memory-mlock":                         {kind: truth, experimental: true},
	"initial-corrupt-check":                {truth, true, "InitialCorruptCheck"},
	"compact-hash-check-enabled":           {truth, true, "CompactHashCheck"},
	"enable-lease-checkpoint":              {truth, true, "LeaseCheckpoint"},
	"enable-lease-checkpoint-persist":      {truth, true, "LeaseCheckpointPersist"},
	"stop-grpc-service-on-defrag":          {truth, true, "StopGRPCServiceOnDefrag"},
	"txn-mode-write-with-shared-buffer":    {truth, true, "TxnModeWriteWithSharedBuffer"},
}

// owned are the prefixes of keys that the operator sets itself, or that would put data at risk.
var owned = []string{
	"name", "data-dir", "wal-dir", "listen-", "initial-advertise", "advertise-", "initial-cluster", "cert-", "key-",
	"client-", "peer-", "trusted-", "auto-tls", "cipher-", "tls-", "strict-reconfig-check", "force-new-cluster",
	"unsafe-no-fsync", "max-learners", "discovery", "proxy", "log-outputs", "logger", "config-file", "enable-v2",
	"self-signed", "feature-gates", "enable-grpc-gateway", "auth-token",
}

func (o option) key(name string, minor uint64) string {
	if o.experimental && minor < 6 {
		return "experimental-" + name
	}
	return name
}

func (o option) value(s string) (any, error) {
	switch o.kind {
	case number:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", s)
		}
		return n, nil
	case truth:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return nil, fmt.Errorf("%q is not true or false", s)
		}
		return b, nil
	case duration:
		d, err := time.ParseDuration(s)
		if err != nil {
			return nil, fmt.Errorf("%q is not a duration such as 10s", s)
		}
		return d.Nanoseconds(), nil
	case text:
	}
	return s, nil
}

// OptionsFromEnv translates ETCD_* variables, as coreos/etcd-operator's pod.etcdEnv has them, into options. The
// problems name the variable, the reason and the fix; there are none in a translation that can be used.
func OptionsFromEnv(env map[string]string) (translated map[string]string, problems []string) {
	translated = map[string]string{}
	for variable, value := range env {
		bare, ok := strings.CutPrefix(variable, "ETCD_")
		name := strings.ReplaceAll(strings.ToLower(bare), "_", "-")
		name = strings.TrimPrefix(name, "experimental-")
		o, known := options[name]
		switch {
		case !ok:
			problems = append(problems, variable+" is not one of etcd's variables (ETCD_…): remove it")
		case !known && ownedByOperator(name):
			problems = append(problems, variable+" is set by the operator itself: remove it")
		case !known:
			problems = append(problems, variable+" is not an option that etcd 3.5, 3.6 and 3.7 share: remove it")
		default:
			if _, err := o.value(value); err != nil {
				problems = append(problems, fmt.Sprintf("%s: %v", variable, err))
				continue
			}
			translated[name] = value
		}
	}
	slices.Sort(problems)
	return translated, problems
}

func ownedByOperator(name string) bool {
	return slices.ContainsFunc(owned, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
