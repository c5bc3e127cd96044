package resources

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Options translates the cluster's options for etcd, wherever the spec has them; see member.Translate. What Auto Pilot has made of them since
// is among them.
func Options(c *v1beta2.EtcdCluster, version string) (options map[string]string, problems []string) {
	given := &settings{}
	for _, e := range podPolicy(c).EtcdEnv {
		given.list = append(given.list, member.EnvSetting("spec.pod.etcdEnv["+e.Name+"]", e.Name, e.Value))
	}
	if o := c.Spec.Etcd; o != nil {
		given.typed(o)
		for flag, value := range o.ExtraArgs {
			given.list = append(given.list, member.Setting{Field: "spec.etcd.extraArgs[" + flag + "]", Flag: flag, Value: value})
		}
	}
	options, problems = member.Translate(given.list, version)
	if quota := tunedQuota(c, Quota(options)); quota != 0 {
		options[quotaFlag] = strconv.FormatInt(quota, 10)
	}
	return options, problems
}

// SpecQuota is the quota that the spec gives etcd, whatever Auto Pilot has made of it: see Quota.
func SpecQuota(c *v1beta2.EtcdCluster, version string) int64 {
	bare := &v1beta2.EtcdCluster{Spec: c.Spec}
	options, _ := Options(bare, version)
	return Quota(options)
}

// PodQuota is the quota that etcd in a pod is started with, whatever its version: see Quota. It is 0, too, if the pod does not say.
func PodQuota(pod *corev1.Pod) int64 {
	config, known := podConfig(pod)
	if !known {
		return 0
	}
	return Quota(config.Options)
}

// tunedQuota is what Auto Pilot has raised the quota to, in bytes, 0 if it has not: it counts until the spec has another one than it was
// raised from.
func tunedQuota(c *v1beta2.EtcdCluster, spec int64) int64 {
	a := c.Status.Autopilot
	if a == nil || a.Tuned == nil || a.Tuned.InsteadOf.Value() != spec {
		return 0
	}
	return a.Tuned.QuotaBackendBytes.Value()
}

// quotaFlag is etcd's option.
const quotaFlag = "quota-backend-bytes"

// settings gathers what is given.
type settings struct{ list []member.Setting }

// typed are the options that have a field of their own.
func (s *settings) typed(o *v1beta2.EtcdOptions) {
	s.bytes("quotaBackendBytes", quotaFlag, o.QuotaBackendBytes)
	if a := o.AutoCompaction; a != nil {
		s.text("autoCompaction.mode", "auto-compaction-mode", strings.ToLower(a.Mode))
		s.text("autoCompaction.retention", "auto-compaction-retention", a.Retention)
	}
	s.milliseconds("heartbeatInterval", "heartbeat-interval", o.HeartbeatInterval)
	s.milliseconds("electionTimeout", "election-timeout", o.ElectionTimeout)
	if n := o.SnapshotCount; n != nil {
		s.text("snapshotCount", "snapshot-count", strconv.FormatInt(*n, 10))
	}
	s.bytes("maxRequestBytes", "max-request-bytes", o.MaxRequestBytes)
	s.text("logLevel", "log-level", strings.ToLower(o.LogLevel))
	s.text("metrics", "metrics", strings.ToLower(o.Metrics))
}

func (s *settings) text(field, flag, value string) {
	if value != "" {
		s.list = append(s.list, member.Setting{Field: "spec.etcd." + field, Flag: flag, Value: value})
	}
}

// bytes rounds up to whole ones.
func (s *settings) bytes(field, flag string, value *resource.Quantity) {
	if value != nil {
		s.text(field, flag, strconv.FormatInt(value.Value(), 10))
	}
}

// milliseconds leaves fractions to the translation, which refuses them.
func (s *settings) milliseconds(field, flag string, value *metav1.Duration) {
	if value != nil {
		s.text(field, flag, strings.TrimSuffix(fmt.Sprintf("%.3f", float64(value.Microseconds())/1000), ".000"))
	}
}

// defaultQuota is etcd's own, DefaultQuotaBytes in its package storage, in bytes.
const defaultQuota = 2 << 30

// Quota returns the size of a database, in bytes, from which on etcd with these options takes no writes, 0 if there is no limit. It reads them
// as etcd does: 0 is its default, and one below that is no limit.
func Quota(options map[string]string) int64 {
	quota, err := strconv.ParseInt(options[quotaFlag], 10, 64)
	if err != nil || quota == 0 {
		return defaultQuota
	}
	return max(quota, 0)
}
