package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// MaxClusterSeries is the largest number of series of one EtcdCluster in which Auto Pilot holds nothing and no volume is kept: what they cost
// Prometheus grows with the number of clusters, and with nothing else. Each feature that holds something adds one for as long as that lasts, and so
// does each cause for which volumes are kept. Members have none here, because they export their own.
const MaxClusterSeries = 26

// Cluster is what the metrics show of the last observation of an EtcdCluster.
type Cluster struct {
	// UID tells it from an earlier one of its name, and Now is when it was observed.
	UID string
	Now time.Time
	// Version is the etcd version that the cluster runs, empty if it is not known yet, and TargetVersion the one that its spec asks for.
	Version, TargetVersion string
	// Size is the number of voters that the spec asks for, and Updated how many members match the spec.
	Size, Updated int
	// Ready and Unready are voters, Learners all learners.
	Ready, Unready, Learners int
	// Margin is how many more voters may fail, -1 without a quorum. It counts only if Up: once the cluster has been up, and while it
	// does not hibernate.
	Margin int
	Up     bool
	// Conditions are in the order of ConditionTypes.
	Conditions [6]Condition
	// Reason is that of the condition Progressing, empty if there is none.
	Reason string
	// Judged is true with a quorum: only then it is known which alarms there are. NoSpace and Corrupt are how many members have these.
	Judged           bool
	NoSpace, Corrupt int
	// Databases are those of the members that have answered.
	Databases []Database
	// Expiry is when the first certificate of each use expires.
	Expiry []Expiry
	// Held are the features of Auto Pilot of which something is due and not done, each once.
	Held []Held
	// Replaced and Diverged are how many volumes are kept that a restore has replaced, and that are of members whose data differed.
	Replaced, Diverged int
	// Compared is when all voters' data was last found to be the same, zero if this process has not found that.
	Compared time.Time
}

// Held is a feature of Auto Pilot of which something is due and not done. Waits is true if it only waits for the time to do it.
type Held struct {
	Feature string
	Waits   bool
}

// ConditionTypes are the conditions of an EtcdCluster that have series.
var ConditionTypes = [6]string{"Ready", "Available", "Progressing", "Degraded", "CertificatesValid", "Anomaly"}

// Condition is the state of a condition.
type Condition uint8

// The states of a condition.
const (
	ConditionAbsent Condition = iota
	ConditionFalse
	ConditionTrue
)

// Database is that of one member, in bytes. Quota is the size from which on it takes no writes, 0 if that is unknown or unlimited.
type Database struct{ Size, InUse, Quota int64 }

// Expiry is when the first certificate for a use expires.
type Expiry struct {
	Use string
	At  time.Time
}

// clusterRecord is a cluster with what is known from earlier observations. Of the databases it keeps the fullest only.
type clusterRecord struct {
	Cluster
	// since is when the reason was first observed.
	since time.Time
	// free is the largest share of a database's file that is free, and used that of a quota which is in use.
	free, used   float64
	sized, bound bool
	growth       trend
}

// clusters are the metrics of EtcdClusters.
type clusters struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*clusterRecord

	info, size, updated, members, margin, condition, reasonSince, alarms, used, free, untilQuota, expiry, held, kept, compared column
}

func clusterColumn(name, help string, labels ...string) column {
	return columnOf(Gauge, "cluster_"+name, help, append([]string{"namespace", "etcd_cluster"}, labels...)...)
}

var allClusters = &clusters{
	all: map[types.NamespacedName]*clusterRecord{},
	info: clusterColumn("info",
		"1, with the etcd version that the cluster runs, empty before it is up, and the one that its members are to run: that of the spec, or the patch release that Auto Pilot has chosen.", "version", "target_version"),
	size:    clusterColumn("spec_size", "Voters that the spec asks for."),
	updated: clusterColumn("updated_members", "Members whose pods match the spec."),
	members: clusterColumn("members", "Members of etcd: ready and unready voters, and learners.", "state"),
	margin: clusterColumn("quorum_margin",
		"Voters that may fail before the quorum is lost: 0 if none may, -1 if it is lost; no series before the cluster is up, while a restore replaces it, or while it hibernates, or wakes up."),
	condition: clusterColumn("condition",
		"1 if the condition is true, 0 if not: Ready, Available, Progressing, Degraded, with TLS CertificatesValid, and Anomaly, which has no series while it is Unknown.", "type"),
	reasonSince: clusterColumn("reason_since_timestamp_seconds",
		"Since when the condition Progressing has had its present reason, not before this operator has started.", "reason"),
	alarms: clusterColumn("alarms",
		"Members with an alarm of etcd, by alarm: nospace (at its quota) and corrupt (data differs), as most members say that answer; no series without a quorum.", "alarm"),
	used: clusterColumn("database_in_use_ratio",
		"How much of its quota a member's data takes up, of the fullest member; no series while no member answers, or without a quota."),
	free: clusterColumn("database_free_ratio",
		"How much of its file is free pages, which defragmentation would return, of the member with the largest share; no series while no member answers."),
	untilQuota: clusterColumn("seconds_until_quota",
		"In how many seconds the fullest member's data reaches its quota if it grows on as in the last two hours, whose first is compared with the "+
			"second; +Inf if it did not grow, or was observed for less than ten minutes."),
	expiry: clusterColumn("certificate_expiry_timestamp_seconds",
		"When the first certificate expires, by use; those of the cluster's own authorities are peer-ca and server-ca.", "use"),
	held: clusterColumn("autopilot_held",
		"1 while something of Auto Pilot is due and not done, by feature, because it is not safe or may only be advised; 0 while it only waits for "+
			"a maintenance window that there is, for its turn, or for the end of a trial; no series while nothing is due.", "feature"),
	kept: clusterColumn("kept_volumes",
		"Volumes that are kept, and that only you delete, by what they are of: restore (a restore has replaced the data) or diverged-member (its data "+
			"differed from the others'); no series without any.", "of"),
	compared: clusterColumn("data_compared_timestamp_seconds",
		"When this process last found the data of all voters to be the same at a compaction; no series before it has. It stays as it was while data "+
			"differs or cannot be compared, until members were not sampled for a day."),
}

func init() { metrics.Registry.MustRegister(allClusters) }

// Describe is part of prometheus.Collector.
func (c *clusters) Describe(to chan<- *prometheus.Desc) {
	for _, described := range []column{
		c.info, c.size, c.updated, c.members, c.margin, c.condition, c.reasonSince, c.alarms, c.used, c.free, c.untilQuota, c.expiry, c.held, c.kept,
		c.compared,
	} {
		to <- described.desc
	}
}

// Collect is part of prometheus.Collector.
func (c *clusters) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, r := range c.all {
		c.collect(series{to: to, namespace: key.Namespace, name: key.Name}, r)
	}
}

func (c *clusters) collect(s series, r *clusterRecord) {
	s.add(c.info, 1, r.Version, r.TargetVersion)
	s.add(c.size, float64(r.Size))
	s.add(c.updated, float64(r.Updated))
	s.add(c.members, float64(r.Ready), "ready")
	s.add(c.members, float64(r.Unready), "unready")
	s.add(c.members, float64(r.Learners), "learner")
	if r.Up {
		s.add(c.margin, float64(r.Margin))
	}
	for i, state := range r.Conditions {
		if state != ConditionAbsent {
			s.add(c.condition, number(state == ConditionTrue), ConditionTypes[i])
		}
	}
	if r.Reason != "" {
		s.add(c.reasonSince, unix(r.since), r.Reason)
	}
	if r.Judged {
		s.add(c.alarms, float64(r.NoSpace), "nospace")
		s.add(c.alarms, float64(r.Corrupt), "corrupt")
	}
	if r.sized {
		s.add(c.free, r.free)
	}
	if r.bound {
		s.add(c.used, r.used)
		s.add(c.untilQuota, r.growth.until())
	}
	for _, e := range r.Expiry {
		s.add(c.expiry, unix(e.At), e.Use)
	}
	for _, h := range r.Held {
		s.add(c.held, number(!h.Waits), h.Feature)
	}
	if r.Replaced > 0 {
		s.add(c.kept, float64(r.Replaced), "restore")
	}
	if r.Diverged > 0 {
		s.add(c.kept, float64(r.Diverged), "diverged-member")
	}
	if !r.Compared.IsZero() {
		s.add(c.compared, unix(r.Compared))
	}
}

// SetCluster exports the metrics of an EtcdCluster.
func SetCluster(namespace, name string, seen Cluster) {
	allClusters.mu.Lock()
	defer allClusters.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	r := allClusters.all[key]
	if r == nil || r.UID != seen.UID {
		r = &clusterRecord{}
		allClusters.all[key] = r
	}
	if r.Reason != seen.Reason {
		r.since = seen.Now
	}
	r.Cluster = seen
	r.measure(seen.Databases)
	r.Databases = nil
}

// ForgetCluster removes the metrics of an EtcdCluster.
func ForgetCluster(namespace, name string) {
	allClusters.mu.Lock()
	defer allClusters.mu.Unlock()
	delete(allClusters.all, types.NamespacedName{Namespace: namespace, Name: name})
}

// measure keeps what the metrics show of the members' databases.
func (r *clusterRecord) measure(all []Database) {
	r.free, r.used, r.sized, r.bound = 0, 0, false, false
	fullest := Database{}
	for _, d := range all {
		if d.Size > 0 {
			r.sized, r.free = true, max(r.free, float64(d.Size-d.InUse)/float64(d.Size))
		}
		if d.Quota > 0 {
			if share := float64(d.InUse) / float64(d.Quota); !r.bound || share > r.used {
				r.bound, r.used, fullest = true, share, d
			}
		}
	}
	if r.bound {
		r.growth.note(r.Now, fullest)
	}
}
