// Package alerts holds what people are told of by Prometheus: the conditions, and where each is explained.
//
// A critical alert means that clients are without etcd, or cannot write. Everything else is a warning: it can wait for the day.
package alerts

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Timing is how fast the alerts are.
type Timing struct {
	// Scale divides every time after which something is told, and every window that is looked at: 1 is for use, more for tests that cannot
	// wait. 0 is 1.
	Scale int
}

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

// Runbooks is where the page of each alert is, followed by its name and ".md".
const Runbooks = "https://github.com/etcdpilot/etcd-operator/blob/main/docs/runbooks/"

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
		"$own", fmt.Sprintf("namespace=%q", namespace), "$window", duration(a.window/scale),
		"$stuck", strconv.Itoa(int((stuckAfter / scale).Seconds())),
	)
	return Rule{
		Alert: a.name, Expr: scaled.Replace(a.expr), For: duration(a.after / scale),
		Labels: map[string]string{"severity": string(a.severity)},
		Annotations: map[string]string{
			"summary": a.summary, "description": a.description, "runbook_url": Runbooks + a.name + ".md",
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
