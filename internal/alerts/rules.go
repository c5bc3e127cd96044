// Package alerts holds what people are told of by Prometheus: the conditions, and where each is explained.
//
// A critical alert means that clients are without etcd, or cannot write. Everything else is a warning: it can wait for the day.
package alerts

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Timing is how fast the alerts are.
//
// What scales is how long people wait: the time after which something is told, the window that is looked at, and the age at which a step is
// odd. What an alert measures stays as it is: seconds of a flush or of a round trip, shares, requests per second, and the day in which a
// database is full. So do counts in a window: of leaders and of failed passes, a test has to cause as many in a shorter time. The age of a
// backup is told by the interval in its spec.
//
// Some times are those of etcd and Kubernetes, and no test makes them shorter. An election takes up to two seconds, so nothing is told
// sooner than after shortestAfter; and a window holds two of the observations that it is about, as etcd makes them (alert.shortest), and
// several scrapes: a test scrapes every two seconds.
type Timing struct {
	// Scale divides those times: 1 is for use, more for tests that cannot wait. 0 is 1.
	Scale int
}

// shortestAfter is longer than what etcd and the operator need to get over by themselves: an election, and the next look.
const shortestAfter = 10 * time.Second

// Group is a group of rules, in the form of Prometheus and of Prometheus Operator's PrometheusRule.
type Group struct {
	Name  string `json:"name"`
	Rules []Rule `json:"rules"`
}

// Rule is one alert.
type Rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Severity is how urgent an alert is.
type Severity string

// The severities.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
)

// runbook is the address of the page of an alert.
func runbook(alert string) string { return version.Document("docs/runbooks/" + alert + ".md") }

// Job is what Prometheus Operator calls the operator as a target of the ServiceMonitor: the name of its Service.
const Job = "etcd-operator-controller-manager-metrics-service"

// alert is a rule before its times are scaled.
type alert struct {
	name     string
	severity Severity
	// expr has $own where series of a namespace are selected, $window where the window is, and $stuck where stuckAfter is, in seconds.
	expr                 string
	window, after        time.Duration
	summary, description string
	// shortest is the shortest window in which there is something to see, however it is scaled; 0 if a few scrapes are enough.
	shortest time.Duration
}

// ForClusters returns the alerts about the EtcdClusters of one namespace. They join series by namespace and etcd_cluster alone, of which
// Prometheus may have several while the operator's pod is replaced.
func ForClusters(namespace string, t Timing) []Group {
	return []Group{t.group("etcd-clusters", namespace, clusterAlerts()), t.group("etcd-members", namespace, memberAlerts())}
}

// ForOperator returns the alerts about the operator, and about the EtcdBackups of all namespaces: some are of clusters elsewhere.
func ForOperator(t Timing) []Group {
	return []Group{t.group("etcd-backups", "", backupAlerts()), t.group("etcd-operator", "", operatorAlerts())}
}

func (t Timing) group(name, namespace string, of []alert) Group {
	group := Group{Name: name}
	for _, a := range of {
		group.Rules = append(group.Rules, a.rule(namespace, time.Duration(max(t.Scale, 1))))
	}
	return group
}

func (a alert) rule(namespace string, scale time.Duration) Rule {
	scaled := strings.NewReplacer(
		"$own", fmt.Sprintf("namespace=%q", namespace), "$window", duration(max(a.window/scale, a.shortest)),
		"$stuck", strconv.Itoa(int((stuckAfter / scale).Seconds())),
	)
	return Rule{
		Alert: a.name, Expr: scaled.Replace(a.expr), For: duration(max(a.after/scale, shortestAfter)),
		Labels: map[string]string{"severity": string(a.severity)},
		Annotations: map[string]string{
			"summary": a.summary, "description": a.description, "runbook_url": runbook(a.name),
		},
	}
}

// duration is a time as Prometheus writes it.
func duration(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}
