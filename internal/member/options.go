package member

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// option is a key of etcd's configuration file that users may set.
type option struct {
	// parse gives the value as the file holds it; the error says what would be right.
	parse func(string) (any, error)
	// old is the key in etcd 3.5, empty if it is the same.
	old string
	// gate is the feature gate that took the key's place in etcd 3.6.
	gate string
}

// options are those that etcd 3.5, 3.6 and 3.7 share and that do not fight the operator, by their name in 3.7.
var options = map[string]option{
	"snapshot-count":              {parse: count},
	"heartbeat-interval":          {parse: count},
	"election-timeout":            {parse: count},
	"quota-backend-bytes":         {parse: number},
	"max-txn-ops":                 {parse: count},
	"max-request-bytes":           {parse: count},
	"max-snapshots":               {parse: count},
	"max-wals":                    {parse: count},
	"max-concurrent-streams":      {parse: count},
	"auto-compaction-mode":        {parse: oneOf("periodic", "revision")},
	"auto-compaction-retention":   {parse: retention},
	"backend-batch-interval":      {parse: duration},
	"backend-batch-limit":         {parse: count},
	"backend-bbolt-freelist-type": {parse: oneOf("array", "map")},
	"grpc-keepalive-min-time":     {parse: duration},
	"grpc-keepalive-interval":     {parse: duration},
	"grpc-keepalive-timeout":      {parse: duration},
	"pre-vote":                    {parse: truth},

	"initial-election-tick-advance": {parse: truth},

	"auth-token-ttl":      {parse: count},
	"bcrypt-cost":         {parse: count},
	"log-level":           {parse: oneOf("debug", "info", "warn", "error", "panic", "fatal")},
	"metrics":             {parse: oneOf("basic", "extensive")},
	"enable-pprof":        {parse: truth},
	"enable-grpc-gateway": {parse: truth},
	"cors":                {parse: origins},
	"host-whitelist":      {parse: text},

	"compact-hash-check-time":        {parse: duration, old: "experimental-compact-hash-check-time"},
	"corrupt-check-time":             {parse: duration, old: "experimental-corrupt-check-time"},
	"compaction-batch-limit":         {parse: count, old: "experimental-compaction-batch-limit"},
	"compaction-sleep-interval":      {parse: duration, old: "experimental-compaction-sleep-interval"},
	"warning-apply-duration":         {parse: duration, old: "experimental-warning-apply-duration"},
	"watch-progress-notify-interval": {parse: duration, old: "experimental-watch-progress-notify-interval"},

	"bootstrap-defrag-threshold-megabytes": {parse: count, old: "experimental-bootstrap-defrag-threshold-megabytes"},
	// In the file of 3.5 the name differs from the flag's.
	"snapshot-catchup-entries": {parse: count, old: "experimental-snapshot-catch-up-entries"},

	"enable-distributed-tracing":        {parse: truth, old: "experimental-enable-distributed-tracing"},
	"distributed-tracing-address":       {parse: text, old: "experimental-distributed-tracing-address"},
	"distributed-tracing-service-name":  {parse: text, old: "experimental-distributed-tracing-service-name"},
	"distributed-tracing-instance-id":   {parse: text, old: "experimental-distributed-tracing-instance-id"},
	"distributed-tracing-sampling-rate": {parse: count, old: "experimental-distributed-tracing-sampling-rate"},

	"initial-corrupt-check":             gate("initial-corrupt-check", "InitialCorruptCheck"),
	"compact-hash-check-enabled":        gate("compact-hash-check-enabled", "CompactHashCheck"),
	"enable-lease-checkpoint":           gate("enable-lease-checkpoint", "LeaseCheckpoint"),
	"enable-lease-checkpoint-persist":   gate("enable-lease-checkpoint-persist", "LeaseCheckpointPersist"),
	"stop-grpc-service-on-defrag":       gate("stop-grpc-service-on-defrag", "StopGRPCServiceOnDefrag"),
	"txn-mode-write-with-shared-buffer": gate("txn-mode-write-with-shared-buffer", "TxnModeWriteWithSharedBuffer"),
}

func gate(name, gate string) option {
	return option{parse: truth, old: "experimental-" + name, gate: gate}
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
