package resources

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// everyOption sets every typed field.
const everyOption = `
quotaBackendBytes: 8Gi
autoCompaction: {mode: Revision, retention: "1000"}
heartbeatInterval: 200ms
electionTimeout: 2s
snapshotCount: 20000
maxRequestBytes: 2Mi
logLevel: Warn
metrics: Extensive
extraArgs:
  grpc-keepalive-timeout: 30s
  experimental-compact-hash-check-time: 2m
  bootstrap-defrag-threshold-megabytes: "99"
  feature-gates: CompactHashCheck=true,StopGRPCServiceOnDefrag=true
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
	for _, group := range []any{*o, *o.AutoCompaction} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(group)) {
			if reflect.ValueOf(group).FieldByIndex(field.Index).IsZero() {
				t.Errorf("%s is not in the test", field.Name)
			}
		}
	}
	got, problems := Options(cluster(func(c *v1beta2.EtcdCluster) { c.Spec.Etcd = o }), "3.6.16")
	want := map[string]string{
		"quota-backend-bytes": "8589934592", "auto-compaction-mode": "revision", "auto-compaction-retention": "1000",
		"heartbeat-interval": "200", "election-timeout": "2000", "snapshot-count": "20000", "max-request-bytes": "2097152",
		"log-level": "warn", "metrics": "extensive", "grpc-keepalive-timeout": "30s", "compact-hash-check-time": "2m",
		"bootstrap-defrag-threshold-megabytes": "99", "compact-hash-check-enabled": "true", "stop-grpc-service-on-defrag": "true",
	}
	if len(problems) > 0 || !maps.Equal(got, want) {
		t.Errorf("options %v, problems %q, want %v", got, problems, want)
	}
}

func TestOptionsProblems(t *testing.T) {
	for name, c := range map[string]struct{ env, etcd, want string }{
		"env":   {"ETCD_DATA_DIR", "{}", "spec.pod.etcdEnv[ETCD_DATA_DIR] is set by the operator itself"},
		"new":   {"", "{extraArgs: {log-format: json}}", "spec.etcd.extraArgs[log-format] is an option that etcd 3.5.35"},
		"gate":  {"", "{extraArgs: {feature-gates: PriorityRequest=true}}", "spec.etcd.extraArgs[feature-gates] is an option that"},
		"extra": {"", "{extraArgs: {force-new-cluster: x}}", "spec.etcd.extraArgs[force-new-cluster] puts data at risk"},
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
			"", "{extraArgs: {feature-gates: CompactHashCheck=true, experimental-compact-hash-check-enabled: 'true'}}", "given twice",
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

// TestTunedQuota has members be given the quota that Auto Pilot has raised, until the spec has another one than it was raised from.
func TestTunedQuota(t *testing.T) {
	if got := PodQuota(&corev1.Pod{}); got != 0 {
		t.Errorf("a pod without a configuration says %d", got)
	}
	tuned := func(insteadOf string, edit func(*v1beta2.EtcdClusterSpec)) *v1beta2.EtcdCluster {
		return cluster(func(c *v1beta2.EtcdCluster) {
			c.Status.Autopilot = &v1beta2.AutopilotStatus{Tuned: &v1beta2.TunedOptions{
				QuotaBackendBytes: resource.MustParse("3Gi"), InsteadOf: resource.MustParse(insteadOf),
			}}
			edit(&c.Spec)
		})
	}
	for title, c := range map[string]struct {
		cluster    *v1beta2.EtcdCluster
		want, spec int64
	}{
		"of etcd's default": {tuned("2Gi", func(*v1beta2.EtcdClusterSpec) {}), 3 << 30, 2 << 30},
		"of the spec's": {
			tuned("1Gi", func(s *v1beta2.EtcdClusterSpec) { s.Etcd = etcdOptions(t, "quotaBackendBytes: 1Gi") }), 3 << 30, 1 << 30,
		},
		"of another one": {
			tuned("2Gi", func(s *v1beta2.EtcdClusterSpec) { s.Etcd = etcdOptions(t, "quotaBackendBytes: 1Gi") }), 1 << 30, 1 << 30,
		},
		"beside what is wrong": {
			tuned("2Gi", func(s *v1beta2.EtcdClusterSpec) { s.Etcd = etcdOptions(t, `extraArgs: {no-such-flag: "1"}`) }), 3 << 30, 2 << 30,
		},
	} {
		t.Run(title, func(t *testing.T) {
			options, _ := Options(c.cluster, "3.6.16")
			if got, spec := Quota(options), SpecQuota(c.cluster, "3.6.16"); got != c.want || spec != c.spec {
				t.Errorf("the quota is %d, and the spec's %d; want %d and %d", got, spec, c.want, c.spec)
			}
			if given := memberConfig(c.cluster, "c-0", member.Transport{}).Options; Quota(given) != c.want {
				t.Errorf("a member is given %v", given)
			}
			pod, err := Pod(c.cluster, "c-0", 1, nil, PodOptions{EtcdVersion: "3.5.35"})
			if err != nil || PodQuota(pod) != c.want {
				t.Errorf("its pod says %d (%v)", PodQuota(pod), err)
			}
		})
	}
	before, _ := RevisionOf(cluster(func(*v1beta2.EtcdCluster) {}), options)
	after, _ := RevisionOf(tuned("2Gi", func(*v1beta2.EtcdClusterSpec) {}), options)
	if reflect.DeepEqual(before, after) {
		t.Error("no member is updated to the new quota")
	}
}
