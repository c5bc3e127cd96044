package member

// option is a key of etcd's configuration file that users may set.
type option struct {
	// parse converts the value to that of the file; the error says what would be valid.
	parse func(string) (any, error)
	// old is the key in etcd 3.5, empty if it is the same.
	old string
	// gate is the feature gate that replaced the key in etcd 3.6.
	gate string
	// since is the first minor version of etcd 3 that has it, 0 if all supported ones do.
	since uint64
}

// options are those that do not conflict with the operator, by their name in 3.7; feature gates that never were options by the
// gate's name.
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
	"log-format":          {parse: oneOf("json", "console"), since: 6},
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
	"warning-unary-request-duration": {parse: duration, since: 6},
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

	"FastLeaseKeepAlive": {parse: truth, gate: "FastLeaseKeepAlive", since: 7},
	"PriorityRequest":    {parse: truth, gate: "PriorityRequest", since: 7},
}

// defaults are what etcd is given where the user says nothing. They are not part of Config, which a pod has had since it was created: so no
// member that runs is restarted for one.
//
// A member serves nobody while it is defragmented. It says so to clients that ask for gRPC's health, which go to another one at once; nobody
// else looks at that. etcd 3.5 has the option from 3.5.14 on, and ignores it before.
var defaults = map[string]string{"stop-grpc-service-on-defrag": "true"}

func gate(name, gate string) option {
	return option{parse: truth, old: "experimental-" + name, gate: gate}
}
