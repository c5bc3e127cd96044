package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/etcdpilot/etcd-operator/internal/alerts"
)

// Targets are those that a Prometheus scrapes in a pool. Seen is what a reader of a failure needs of them.
func Targets(ctx context.Context, p promv1.API, pool string) (found []promv1.ActiveTarget, seen string, err error) {
	all, err := p.Targets(ctx)
	if err != nil {
		return nil, "", err
	}
	found = slices.DeleteFunc(all.Active, func(target promv1.ActiveTarget) bool { return target.ScrapePool != pool })
	seen = fmt.Sprintf("%d targets in all, of %s", len(all.Active), pool)
	for _, target := range found {
		seen += fmt.Sprintf(" %s %s %s %s;", target.ScrapeURL, target.Labels, target.Health, target.LastError)
	}
	return found, seen, nil
}

// Alerts are those that a Prometheus has of this operator.
func Alerts(ctx context.Context, p promv1.API) (found []promv1.AlertingRule, err error) {
	all, err := p.Rules(ctx, nil)
	for _, group := range all.Groups {
		for _, rule := range group.Rules {
			if alert, is := rule.(promv1.AlertingRule); is && strings.HasPrefix(group.Name, "etcd-") {
				found = append(found, alert)
			}
		}
	}
	return found, err
}

// AlertsLoaded holds when a Prometheus has each of these alerts once, among those that are looked at.
func AlertsLoaded(p promv1.API, groups []alerts.Group, of func(promv1.AlertingRule) bool) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		loaded, err := Alerts(ctx, p)
		found := map[string]int{}
		for _, rule := range loaded {
			if of(rule) {
				found[rule.Name]++
			}
		}
		var wrong []string
		for _, group := range groups {
			for _, rule := range group.Rules {
				if found[rule.Alert] != 1 {
					wrong = append(wrong, fmt.Sprintf("%s %d times", rule.Alert, found[rule.Alert]))
				}
			}
		}
		return fmt.Sprintf("%d, %v, %v", len(loaded), wrong, err), err == nil && len(wrong) == 0
	}
}
