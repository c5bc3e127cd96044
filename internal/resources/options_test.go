package resources

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// everyOption sets every typed field.
const everyOption = `
quotaBackendBytes: 8Gi
autoCompaction: {mode: Revision, retention: "1000"}
heartbeatInterval: 200ms
electionTimeout: 2s
preVote: false
snapshotCount: 20000
snapshotCatchupEntries: 7000
maxRequestBytes: 2Mi
maxTxnOps: 256
maxConcurrentStreams: 100
backendBatchInterval: 50ms
backendBatchLimit: 5000
compactionBatchLimit: 500
compactionSleepInterval: 25ms
bootstrapDefragThreshold: 100500Ki
corruptionChecks: {initialCheck: true, checkInterval: 4h, compactHashCheck: true, compactHashCheckInterval: 2m}
watchProgressNotifyInterval: 5m
warningApplyDuration: 200ms
warningUnaryRequestDuration: 500ms
logLevel: Warn
metrics: Extensive
enablePprof: true
featureGates: {StopGRPCServiceOnDefrag: true}
extraArgs: {grpc-keepalive-timeout: 30s}
`

func etcdOptions(t *testing.T, text string) *v1beta2.EtcdOptions {
	t.Helper()
	o := &v1beta2.EtcdOptions{}
	if err := yaml.UnmarshalStrict([]byte(text), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOptions(t *testing.T) {
	o := etcdOptions(t, everyOption)
	for _, group := range []any{*o, *o.AutoCompaction, *o.CorruptionChecks} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(group)) {
			if reflect.ValueOf(group).FieldByIndex(field.Index).IsZero() {
				t.Errorf("%s is not in the test", field.Name)
			}
		}
	}
	got, problems := Options(cluster(func(c *v1beta2.EtcdCluster) { c.Spec.Etcd = o }), "3.6.16")
	want := map[string]string{
		"quota-backend-bytes": "8589934592", "auto-compaction-mode": "revision", "auto-compaction-retention": "1000",
		"heartbeat-interval": "200", "election-timeout": "2000", "pre-vote": "false", "snapshot-count": "20000",
		"snapshot-catchup-entries": "7000", "max-request-bytes": "2097152", "max-txn-ops": "256",
		"max-concurrent-streams": "100", "backend-batch-interval": "50ms", "backend-batch-limit": "5000",
		"compaction-batch-limit": "500", "compaction-sleep-interval": "25ms",
		"bootstrap-defrag-threshold-megabytes": "99", "initial-corrupt-check": "true", "corrupt-check-time": "4h0m0s",
		"compact-hash-check-enabled": "true", "compact-hash-check-time": "2m0s", "watch-progress-notify-interval": "5m0s",
		"warning-apply-duration": "200ms", "warning-unary-request-duration": "500ms", "log-level": "warn",
		"metrics": "extensive", "enable-pprof": "true", "stop-grpc-service-on-defrag": "true",
		"grpc-keepalive-timeout": "30s",
	}
	if len(problems) > 0 || !maps.Equal(got, want) {
		t.Errorf("options %v, problems %q, want %v", got, problems, want)
	}
}

func TestOptionsProblems(t *testing.T) {
	for name, c := range map[string]struct{ env, etcd, want string }{
		"env":   {"ETCD_DATA_DIR", "{}", "spec.pod.etcdEnv[ETCD_DATA_DIR] is set by the operator itself"},
		"typed": {"", "{warningUnaryRequestDuration: 1s}", "spec.etcd.warningUnaryRequestDuration is an option that etcd 3.5.35"},
		"gate":  {"", "{featureGates: {PriorityRequest: true}}", "spec.etcd.featureGates[PriorityRequest] is an option that"},
		"extra": {"", "{extraArgs: {force-new-cluster: x}}", "spec.etcd.extraArgs[force-new-cluster] would put data at risk"},
		"env and typed": {
			"ETCD_LOG_LEVEL", "{logLevel: Info}",
			"spec.pod.etcdEnv[ETCD_LOG_LEVEL] is given twice, also as spec.etcd.logLevel: remove one",
		},
		"typed and extra": {
			"", "{electionTimeout: 2s, extraArgs: {election-timeout: '3000'}}",
			"spec.etcd.extraArgs[election-timeout] is given twice, also as spec.etcd.electionTimeout",
		},
		"not whole":   {"", "{heartbeatInterval: 1500us}", `spec.etcd.heartbeatInterval cannot be used: "1.500"`},
		"in two ways": {"", "{heartbeatInterval: 300ms}", "spec.etcd.heartbeatInterval: etcd's election-timeout would be 1000"},
		"by old gate": {
			"", "{featureGates: {CompactHashCheck: true}, corruptionChecks: {compactHashCheck: true}}", "given twice",
		},
	} {
		spec := cluster(func(e *v1beta2.EtcdCluster) {
			e.Spec.Etcd = etcdOptions(t, c.etcd)
			if c.env != "" {
				e.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: c.env, Value: "warn"}}}
			}
		})
		_, problems := Options(spec, "3.5.35")
		if len(problems) != 1 || !strings.Contains(problems[0], c.want) {
			t.Errorf("%s: problems %q, want one with %q", name, problems, c.want)
		}
	}
}
