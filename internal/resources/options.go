package resources

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Options translates the cluster's options for etcd, wherever the spec has them; see member.Translate.
func Options(c *v1beta2.EtcdCluster, version string) (options map[string]string, problems []string) {
	given := &settings{}
	for _, e := range podPolicy(c).EtcdEnv {
		given.list = append(given.list, member.EnvSetting("spec.pod.etcdEnv["+e.Name+"]", e.Name, e.Value))
	}
	if o := c.Spec.Etcd; o != nil {
		given.storage(o)
		given.raft(o)
		given.limits(o)
		given.watching(o)
		for flag, value := range o.ExtraArgs {
			given.list = append(given.list, member.Setting{Field: "spec.etcd.extraArgs[" + flag + "]", Flag: flag, Value: value})
		}
		for gate, on := range o.FeatureGates {
			given.list = append(given.list, member.Setting{
				Field: "spec.etcd.featureGates[" + gate + "]", Flag: gate, Value: strconv.FormatBool(on),
			})
		}
	}
	return member.Translate(given.list, version)
}

// settings gathers what is given.
type settings struct{ list []member.Setting }

func (s *settings) storage(o *v1beta2.EtcdOptions) {
	s.bytes("quotaBackendBytes", "quota-backend-bytes", o.QuotaBackendBytes, 1)
	if a := o.AutoCompaction; a != nil {
		s.text("autoCompaction.mode", "auto-compaction-mode", strings.ToLower(a.Mode))
		s.text("autoCompaction.retention", "auto-compaction-retention", a.Retention)
	}
	s.duration("backendBatchInterval", "backend-batch-interval", o.BackendBatchInterval)
	s.count("backendBatchLimit", "backend-batch-limit", o.BackendBatchLimit)
	s.count("compactionBatchLimit", "compaction-batch-limit", o.CompactionBatchLimit)
	s.duration("compactionSleepInterval", "compaction-sleep-interval", o.CompactionSleepInterval)
	const mebi = 1 << 20
	s.bytes("bootstrapDefragThreshold", "bootstrap-defrag-threshold-megabytes", o.BootstrapDefragThreshold, mebi)
}

func (s *settings) raft(o *v1beta2.EtcdOptions) {
	s.milliseconds("heartbeatInterval", "heartbeat-interval", o.HeartbeatInterval)
	s.milliseconds("electionTimeout", "election-timeout", o.ElectionTimeout)
	s.truth("preVote", "pre-vote", o.PreVote)
	s.count("snapshotCount", "snapshot-count", o.SnapshotCount)
	s.count("snapshotCatchupEntries", "snapshot-catchup-entries", o.SnapshotCatchupEntries)
}

func (s *settings) limits(o *v1beta2.EtcdOptions) {
	s.bytes("maxRequestBytes", "max-request-bytes", o.MaxRequestBytes, 1)
	s.count("maxTxnOps", "max-txn-ops", o.MaxTxnOps)
	s.count("maxConcurrentStreams", "max-concurrent-streams", o.MaxConcurrentStreams)
	s.duration("watchProgressNotifyInterval", "watch-progress-notify-interval", o.WatchProgressNotifyInterval)
}

func (s *settings) watching(o *v1beta2.EtcdOptions) {
	if c := o.CorruptionChecks; c != nil {
		s.truth("corruptionChecks.initialCheck", "InitialCorruptCheck", c.InitialCheck)
		s.duration("corruptionChecks.checkInterval", "corrupt-check-time", c.CheckInterval)
		s.truth("corruptionChecks.compactHashCheck", "CompactHashCheck", c.CompactHashCheck)
		s.duration("corruptionChecks.compactHashCheckInterval", "compact-hash-check-time", c.CompactHashCheckInterval)
	}
	s.duration("warningApplyDuration", "warning-apply-duration", o.WarningApplyDuration)
	s.duration("warningUnaryRequestDuration", "warning-unary-request-duration", o.WarningUnaryRequestDuration)
	s.text("logLevel", "log-level", strings.ToLower(o.LogLevel))
	s.text("metrics", "metrics", strings.ToLower(o.Metrics))
	s.truth("enablePprof", "enable-pprof", o.EnablePprof)
}

func (s *settings) text(field, flag, value string) {
	if value != "" {
		s.list = append(s.list, member.Setting{Field: "spec.etcd." + field, Flag: flag, Value: value})
	}
}

func (s *settings) truth(field, flag string, value *bool) {
	if value != nil {
		s.text(field, flag, strconv.FormatBool(*value))
	}
}

func (s *settings) count(field, flag string, value *int64) {
	if value != nil {
		s.text(field, flag, strconv.FormatInt(*value, 10))
	}
}

// bytes rounds up to whole units.
func (s *settings) bytes(field, flag string, value *resource.Quantity, unit int64) {
	if value != nil {
		s.text(field, flag, strconv.FormatInt((value.Value()+unit-1)/unit, 10))
	}
}

func (s *settings) duration(field, flag string, value *metav1.Duration) {
	if value != nil {
		s.text(field, flag, value.Duration.String())
	}
}

// milliseconds leaves what is no whole number for the translation to refuse.
func (s *settings) milliseconds(field, flag string, value *metav1.Duration) {
	if value != nil {
		s.text(field, flag, strings.TrimSuffix(fmt.Sprintf("%.3f", float64(value.Microseconds())/1000), ".000"))
	}
}
