package member

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// option is a key of etcd's configuration file that users may set.
type option struct {
	kind kind
	// old is the key in etcd 3.5, empty if it is the same.
	old string
	// gate is the feature gate that took the key's place in etcd 3.6.
	gate string
	// choices are the only values that etcd takes, nil for any of the kind.
	choices []string
}

type kind int

const (
	text kind = iota
	// number may be negative.
	number
	// count is 0 to 4294967295.
	count
	truth
	// duration is written as nanoseconds: etcd's configuration file has no other form.
	duration
	// retention is a whole number, or a duration such as 30m.
	retention
	// origins are URLs without a path, or "*".
	origins
)

// options are those that etcd 3.5, 3.6 and 3.7 share and that do not fight the operator, by their name in 3.7.
var options = map[string]option{
	"snapshot-count":              {kind: count},
	"heartbeat-interval":          {kind: count},
	"election-timeout":            {kind: count},
	"quota-backend-bytes":         {kind: number},
	"max-txn-ops":                 {kind: count},
	"max-request-bytes":           {kind: count},
	"max-snapshots":               {kind: count},
	"max-wals":                    {kind: count},
	"max-concurrent-streams":      {kind: count},
	"auto-compaction-mode":        {choices: []string{"periodic", "revision"}},
	"auto-compaction-retention":   {kind: retention},
	"backend-batch-interval":      {kind: duration},
	"backend-batch-limit":         {kind: count},
	"backend-bbolt-freelist-type": {choices: []string{"array", "map"}},
	"grpc-keepalive-min-time":     {kind: duration},
	"grpc-keepalive-interval":     {kind: duration},
	"grpc-keepalive-timeout":      {kind: duration},
	"pre-vote":                    {kind: truth},

	"initial-election-tick-advance": {kind: truth},

	"auth-token-ttl":      {kind: count},
	"bcrypt-cost":         {kind: count},
	"log-level":           {choices: []string{"debug", "info", "warn", "error", "panic", "fatal"}},
	"metrics":             {choices: []string{"basic", "extensive"}},
	"enable-pprof":        {kind: truth},
	"enable-grpc-gateway": {kind: truth},
	"cors":                {kind: origins},
	"host-whitelist":      {},

	"compact-hash-check-time":        {kind: duration, old: "experimental-compact-hash-check-time"},
	"corrupt-check-time":             {kind: duration, old: "experimental-corrupt-check-time"},
	"compaction-batch-limit":         {kind: count, old: "experimental-compaction-batch-limit"},
	"compaction-sleep-interval":      {kind: duration, old: "experimental-compaction-sleep-interval"},
	"warning-apply-duration":         {kind: duration, old: "experimental-warning-apply-duration"},
	"watch-progress-notify-interval": {kind: duration, old: "experimental-watch-progress-notify-interval"},

	"bootstrap-defrag-threshold-megabytes": {kind: count, old: "experimental-bootstrap-defrag-threshold-megabytes"},
	// In the file of 3.5 the name differs from the flag's.
	"snapshot-catchup-entries": {kind: count, old: "experimental-snapshot-catch-up-entries"},

	"enable-distributed-tracing":        {kind: truth, old: "experimental-enable-distributed-tracing"},
	"distributed-tracing-address":       {old: "experimental-distributed-tracing-address"},
	"distributed-tracing-service-name":  {old: "experimental-distributed-tracing-service-name"},
	"distributed-tracing-instance-id":   {old: "experimental-distributed-tracing-instance-id"},
	"distributed-tracing-sampling-rate": {kind: count, old: "experimental-distributed-tracing-sampling-rate"},

	"initial-corrupt-check":             gate("initial-corrupt-check", "InitialCorruptCheck"),
	"compact-hash-check-enabled":        gate("compact-hash-check-enabled", "CompactHashCheck"),
	"enable-lease-checkpoint":           gate("enable-lease-checkpoint", "LeaseCheckpoint"),
	"enable-lease-checkpoint-persist":   gate("enable-lease-checkpoint-persist", "LeaseCheckpointPersist"),
	"stop-grpc-service-on-defrag":       gate("stop-grpc-service-on-defrag", "StopGRPCServiceOnDefrag"),
	"txn-mode-write-with-shared-buffer": gate("txn-mode-write-with-shared-buffer", "TxnModeWriteWithSharedBuffer"),
}

func gate(name, gate string) option {
	return option{kind: truth, old: "experimental-" + name, gate: gate}
}

func (o option) value(s string) (any, error) {
	switch o.kind {
	case number:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", s)
		}
		return n, nil
	case count:
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number from 0 to 4294967295", s)
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
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%q is not a duration such as 10s", s)
		}
		return d.Nanoseconds(), nil
	case retention:
		d, err := time.ParseDuration(s)
		if _, notCount := strconv.ParseUint(s, 10, 32); notCount != nil && (err != nil || d < 0) {
			return nil, fmt.Errorf("%q is neither a whole number nor a duration such as 30m", s)
		}
	case origins:
		for origin := range strings.SplitSeq(s, ",") {
			if err := checkOrigin(origin); err != nil {
				return nil, err
			}
		}
	case text:
		if o.choices != nil && !slices.Contains(o.choices, s) {
			return nil, fmt.Errorf("%q is not one of %s", s, strings.Join(o.choices, ", "))
		}
	}
	return s, nil
}

// checkOrigin refuses what makes etcd panic.
func checkOrigin(s string) error {
	u, err := url.Parse(s)
	if s == "*" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Port() != "" && u.Path == "" {
		return nil
	}
	return fmt.Errorf("%q is not an origin: etcd takes * or a URL with a port, such as https://example.com:443", s)
}

// checkTogether finds options that are right one by one and that etcd refuses together. Those that are not given have
// etcd's defaults.
func checkTogether(given map[string]string) error {
	value := func(name, byDefault string) string {
		if s, ok := given[name]; ok {
			return s
		}
		return byDefault
	}
	is := func(name string) bool {
		b, err := strconv.ParseBool(value(name, "false"))
		return b && err == nil
	}
	heartbeat, _ := strconv.ParseUint(value("heartbeat-interval", "100"), 10, 32)
	election, _ := strconv.ParseUint(value("election-timeout", "1000"), 10, 32)
	_, wholeRetention := strconv.ParseUint(value("auto-compaction-retention", "0"), 10, 32)
	hashTime, _ := time.ParseDuration(value("compact-hash-check-time", "1m"))
	switch {
	case heartbeat == 0 || election < 5*heartbeat || election > 50000:
		return fmt.Errorf("ETCD_ELECTION_TIMEOUT is %d ms and ETCD_HEARTBEAT_INTERVAL %d ms: "+
			"make the first at least five times the second and at most 50000, and the second at least 1", election, heartbeat)
	case value("auto-compaction-mode", "periodic") == "revision" && wholeRetention != nil:
		return errors.New("ETCD_AUTO_COMPACTION_RETENTION is a duration and ETCD_AUTO_COMPACTION_MODE is revision: " +
			"give a number of revisions")
	case is("enable-lease-checkpoint-persist") && !is("enable-lease-checkpoint"):
		return errors.New("ETCD_EXPERIMENTAL_ENABLE_LEASE_CHECKPOINT_PERSIST is set: " +
			"set ETCD_EXPERIMENTAL_ENABLE_LEASE_CHECKPOINT too")
	case hashTime == 0:
		return errors.New("ETCD_COMPACT_HASH_CHECK_TIME is 0: give a duration such as 1m")
	}
	return nil
}
