package metrics_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// worst is a cluster with every series that one can have.
func worst() metrics.Cluster {
	c := metrics.Cluster{
		UID: "u", Now: noon, Version: "3.6.16", TargetVersion: "3.7.3", Size: 9, Updated: 4, Ready: 4, Unready: 1, Learners: 2, Margin: 1, Up: true,
		Reason: "Updating", Judged: true, NoSpace: 1, Databases: []metrics.Database{{Size: 4 << 20, InUse: 1 << 20, Quota: 8 << 20}},
		Compared: noon.Add(-time.Hour),
	}
	for i := range c.Conditions {
		c.Conditions[i] = metrics.ConditionTrue
	}
	for i, use := range []string{"peer", "peer-ca", "server", "server-ca", "etcd-client", "tls"} {
		c.Expiry = append(c.Expiry, metrics.Expiry{Use: use, At: noon.Add(time.Duration(i+1) * time.Hour)})
	}
	return c
}

// series are those of a cluster, as text without the two labels that all of them have.
func series(t *testing.T, cluster string) map[string]float64 {
	t.Helper()
	families, err := registry.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if text, has := labelsOf(m, cluster); has {
				found[strings.TrimPrefix(family.GetName(), "etcd_operator_")+text] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return found
}

func labelsOf(m *dto.Metric, cluster string) (text string, has bool) {
	for _, pair := range m.GetLabel() {
		switch pair.GetName() {
		case "etcd_cluster":
			has = pair.GetValue() == cluster
		case "namespace":
		default:
			text += fmt.Sprintf(" %s=%s", pair.GetName(), pair.GetValue())
		}
	}
	return text, has
}

// TestWorstCluster holds the bound on the series of a cluster, and shows all of them.
func TestWorstCluster(t *testing.T) {
	metrics.SetCluster("ns", "worst", worst())
	got := series(t, "worst")
	if len(got) != metrics.MaxClusterSeries {
		t.Errorf("%d series, and %d are the most: %v", len(got), metrics.MaxClusterSeries, slices.Sorted(maps.Keys(got)))
	}
	for name, want := range map[string]float64{
		"cluster_info target_version=3.7.3 version=3.6.16": 1,
		"cluster_spec_size":                                            9,
		"cluster_updated_members":                                      4,
		"cluster_members state=ready":                                  4,
		"cluster_members state=unready":                                1,
		"cluster_members state=learner":                                2,
		"cluster_quorum_margin":                                        1,
		"cluster_condition type=Degraded":                              1,
		"cluster_reason_since_timestamp_seconds reason=Updating":       float64(noon.Unix()),
		"cluster_data_compared_timestamp_seconds":                      float64(noon.Add(-time.Hour).Unix()),
		"cluster_alarms alarm=nospace":                                 1,
		"cluster_alarms alarm=corrupt":                                 0,
		"cluster_database_free_ratio":                                  .75,
		"cluster_database_in_use_ratio":                                .125,
		"cluster_seconds_until_quota":                                  math.Inf(1),
		"cluster_certificate_expiry_timestamp_seconds use=peer":        float64(noon.Add(time.Hour).Unix()),
		"cluster_certificate_expiry_timestamp_seconds use=etcd-client": float64(noon.Add(5 * time.Hour).Unix()),
		"cluster_certificate_expiry_timestamp_seconds use=server-ca":   float64(noon.Add(4 * time.Hour).Unix()),
	} {
		if value, found := got[name]; !found || value != want {
			t.Errorf("%s is %v (%v), want %v", name, value, found, want)
		}
	}
	held := worst()
	held.Held = []metrics.Held{{Feature: "noSpace"}, {Feature: "defragment", Waits: true}}
	metrics.SetCluster("ns", "worst", held)
	got = series(t, "worst")
	if got["cluster_autopilot_held feature=noSpace"] != 1 || got["cluster_autopilot_held feature=defragment"] != 0 ||
		len(got) != metrics.MaxClusterSeries+2 {
		t.Errorf("with two features that hold something: %v", got)
	}
	kept := worst()
	kept.Replaced, kept.Diverged = 3, 1
	metrics.SetCluster("ns", "worst", kept)
	got = series(t, "worst")
	if got["cluster_kept_volumes of=restore"] != 3 || got["cluster_kept_volumes of=diverged-member"] != 1 || len(got) != metrics.MaxClusterSeries+2 {
		t.Errorf("with volumes that are kept: %v", got)
	}
	metrics.ForgetCluster("ns", "worst")
	if left := series(t, "worst"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSeriesAreSaid has all documents that say how many series a cluster has say the same.
func TestSeriesAreSaid(t *testing.T) {
	for document, bound := range map[string]string{
		"observability.md": "at most %d for each cluster", "metrics.md": "at most %d series", "benchmarks.md": "%d series at most",
	} {
		text, err := os.ReadFile("../../docs/" + document)
		if err != nil {
			t.Fatal(err)
		}
		besides := "one more for each feature of Auto Pilot that holds something, and one or two while volumes are kept"
		for _, want := range []string{fmt.Sprintf(bound, metrics.MaxClusterSeries), besides} {
			if !strings.Contains(strings.ReplaceAll(string(text), "[holds something](autopilot.md#what-is-held)", "holds something"), want) {
				t.Errorf("%s does not say %q", document, want)
			}
		}
	}
}

// TestUnknownIsAbsent exports nothing of what is not known: 0 would be a value.
func TestUnknownIsAbsent(t *testing.T) {
	metrics.SetCluster("ns", "new", metrics.Cluster{Now: noon, TargetVersion: "3.6.16", Size: 3, Margin: -1})
	defer metrics.ForgetCluster("ns", "new")
	want := []string{
		"cluster_info target_version=3.6.16 version=", "cluster_members state=learner", "cluster_members state=ready",
		"cluster_members state=unready", "cluster_spec_size", "cluster_updated_members",
	}
	if got := slices.Sorted(maps.Keys(series(t, "new"))); !slices.Equal(got, want) {
		t.Errorf("exported are %q", got)
	}
	unlimited := metrics.Cluster{Now: noon, Judged: true, Databases: []metrics.Database{{Size: 10, InUse: 5}}}
	metrics.SetCluster("ns", "new", unlimited)
	got := series(t, "new")
	if _, found := got["cluster_database_in_use_ratio"]; found || got["cluster_database_free_ratio"] != .5 {
		t.Errorf("without a quota: %v", got)
	}
}

// TestReasonSince keeps the time while the reason is the same, of the same cluster.
func TestReasonSince(t *testing.T) {
	defer metrics.ForgetCluster("ns", "since")
	for i, step := range []struct {
		uid, reason string
		want        int
	}{{"u", "Updating", 0}, {"u", "Updating", 0}, {"u", "Scaling", 2}, {"u", "Updating", 3}, {"u", "Updating", 3}, {"v", "Updating", 5}} {
		metrics.SetCluster("ns", "since", metrics.Cluster{UID: step.uid, Reason: step.reason, Now: noon.Add(time.Duration(i) * time.Minute)})
		name := "cluster_reason_since_timestamp_seconds reason=" + step.reason
		want := float64(noon.Add(time.Duration(step.want) * time.Minute).Unix())
		if got := series(t, "since"); got[name] != want {
			t.Errorf("step %d: %v, want %v", i, got, want)
		}
	}
}

// TestSecondsUntilQuota compares the estimate with what comes true if the growth goes on.
func TestSecondsUntilQuota(t *testing.T) {
	const quota, minute = 1 << 30, time.Minute
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		hours float64
		used  func(minutes float64) float64
		want  float64
	}{
		{"nothing grows", 3, func(float64) float64 { return 1e6 }, inf},
		{"a shrinking one", 3, func(m float64) float64 { return 1e9 - m*1e6 }, inf},
		{"steady growth", 3, func(m float64) float64 { return m * 1e6 }, (quota - 180e6) / 1e6 * 60},
		{"observed for five minutes", 5. / 60, func(m float64) float64 { return m * 1e6 }, inf},
		{"compacted every hour", 4, func(m float64) float64 { return m*1e5 + 1e6*math.Mod(m, 60) }, (quota - 24e6) / 1e5 * 60},
		{"full", 3, func(m float64) float64 { return min(m*1e7, quota) }, 0},
	} {
		begun := noon
		for m := 0.0; m <= c.hours*60; m++ {
			metrics.SetCluster("ns", "grows", metrics.Cluster{
				UID: c.name, Now: begun.Add(time.Duration(m) * minute), Judged: true,
				Databases: []metrics.Database{{Size: quota, InUse: int64(c.used(m)), Quota: quota}, {Size: quota, InUse: 1, Quota: quota}},
			})
		}
		got := series(t, "grows")["cluster_seconds_until_quota"]
		if got != c.want && !(math.Abs(got-c.want) < c.want/3) {
			t.Errorf("%s: %v s, want %v", c.name, got, c.want)
		}
	}
	metrics.ForgetCluster("ns", "grows")
}

// TestFamilies describes what is registered, and nothing else.
func TestFamilies(t *testing.T) {
	described := map[string]bool{}
	for _, f := range metrics.Families() {
		if described[f.Name] {
			t.Errorf("%s is described twice", f.Name)
		}
		described[f.Name] = true
		if !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: the help is no sentence: %s", f.Name, f.Help)
		}
		if counts := strings.HasSuffix(f.Name, "_total"); counts != (f.Type == metrics.Counter) {
			t.Errorf("%s is a %s", f.Name, f.Type)
		}
	}
	for _, name := range registered(t) {
		if !described[name] {
			t.Errorf("%s is not described", name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s is not registered", name)
	}
}

// registered are the names of all of this operator's that the registry knows.
func registered(t *testing.T) []string {
	t.Helper()
	collector, is := registry.Registry.(prometheus.Collector)
	if !is {
		t.Fatal("the registry does not describe what it has")
	}
	to := make(chan *prometheus.Desc)
	go func() {
		defer close(to)
		collector.Describe(to)
	}()
	var names []string
	for desc := range to {
		_, rest, _ := strings.Cut(desc.String(), `fqName: "`)
		if name, _, _ := strings.Cut(rest, `"`); strings.HasPrefix(name, "etcd_operator_") {
			names = append(names, name)
		}
	}
	return names
}
