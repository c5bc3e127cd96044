package stories

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/alerts"
	"github.com/etcdpilot/etcd-operator/internal/dashboards"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// maybeEmpty are the panels that may have no point in this story: no data grows for ten minutes, every member may answer each call, no
// action may be repeated within a window, and Auto Pilot has nothing to do.
var maybeEmpty = []string{
	"Time until the quota, the ten shortest", "Calls to etcd that fail", "Duration of actions", "Actions of Auto Pilot", "Held by Auto Pilot",
}

// loadsAlerts wants Prometheus to have the alerts about the clusters of the story's namespace.
func (p scraper) loadsAlerts(s *story) {
	p.t.Helper()
	p.loads("namespace "+s.Namespace, alerts.ForClusters(s.Namespace, alerts.Timing{}), func(rule promv1.AlertingRule) bool {
		return strings.Contains(rule.Query, fmt.Sprintf("namespace=%q", s.Namespace))
	})
}

// loads wants Prometheus to have each of these alerts once, among those that are looked at.
func (p scraper) loads(what string, groups []alerts.Group, of func(promv1.AlertingRule) bool) {
	p.t.Helper()
	must(p.t, harness.Await(p.t.Context(), "Prometheus has the alerts of "+what, limit, harness.AlertsLoaded(p, groups, of)))
}

// evaluates wants Prometheus to find no fault with any of the alerts, and none that is critical to fire.
func (p scraper) evaluates() {
	p.t.Helper()
	loaded, err := harness.Alerts(p.t.Context(), p)
	must(p.t, err)
	for _, rule := range loaded {
		if rule.Health != promv1.RuleHealthGood {
			p.t.Errorf("%s is %s: %s", rule.Name, rule.Health, rule.LastError)
		}
		if rule.Labels["severity"] == model.LabelValue(alerts.Critical) && rule.State != "inactive" {
			p.t.Errorf("%s is %s: %v", rule.Name, rule.State, rule.Alerts)
		}
	}
}

// shows wants every panel of the dashboards to have had something to show since the story began.
func (p scraper) shows(s *story, began time.Time) {
	p.t.Helper()
	for _, d := range dashboards.All() {
		for _, panel := range d.Panels() {
			if slices.Contains(maybeEmpty, panel.Title) {
				continue
			}
			for _, query := range panel.Queries {
				p.draws(d.Name+"/"+panel.Title, query.With(s.Namespace, s.Name, "1m"), began)
			}
		}
	}
}

// draws waits until an expression has a point that is a number.
func (p scraper) draws(what, expression string, began time.Time) {
	p.t.Helper()
	must(p.t, harness.Await(p.t.Context(), "the panel "+what+" shows something", limit, func(ctx context.Context) (string, bool) {
		value, warnings, _, err := p.QueryRange(ctx, expression, promv1.Range{Start: began, End: time.Now(), Step: 5 * time.Second})
		if err != nil {
			return fmt.Sprintf("%s: %v", expression, err), false
		}
		matrix, is := value.(model.Matrix)
		points := 0
		for _, series := range matrix {
			for _, sample := range series.Values {
				if !math.IsNaN(float64(sample.Value)) {
					points++
				}
			}
		}
		return fmt.Sprintf("%s: %d series, %d points, %v", expression, len(matrix), points, warnings), is && points > 0 && len(warnings) == 0
	}))
}

// unwatched deletes the cluster, and wants its PodMonitor to go with it.
func (s *story) unwatched() {
	s.t.Helper()
	must(s.t, s.Remove(s.t.Context(), limit))
	monitor := &unstructured.Unstructured{}
	monitor.SetGroupVersionKind(resources.PodMonitorKind)
	must(s.t, harness.Await(s.t.Context(), "the PodMonitor is gone", limit, func(ctx context.Context) (string, bool) {
		err := env.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: resources.PodMonitorName(s.Name)}, monitor)
		return fmt.Sprint(err), apierrors.IsNotFound(err)
	}))
}
