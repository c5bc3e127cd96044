package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/etcdpilot/etcd-operator/internal/alerts"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// alertsNamespace has all clusters that the alerts are about.
	alertsNamespace = "story-alerts"
	// alertScale is by how much the alerts are faster than those that the operator makes.
	alertScale = 20
	// alertLimit is how long an alert may take to fire or to clear: EtcdStuck takes four minutes.
	alertLimit = 8 * time.Minute
	// quick is a label of the alerts that are faster, by which they are told from the operator's own.
	quick = `story="quick"`
)

// watch is a Prometheus with alerts that are soon told.
type watch struct {
	promv1.API
	namespace string
	// rules are the alerts by name.
	rules map[string]alerts.Rule
	// path is a folder with kubectl and its plugin.
	path string
	// common is the cluster of several stories, nil until one needs it.
	common *harness.Cluster
}

// watchAlerts has Prometheus scrape the operator, and judge the alerts.
func watchAlerts(t *testing.T) *watch {
	t.Helper()
	connected := monitored(t)
	mayReadMetrics(t, alertsNamespace)
	must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent(alertsNamespace)))
	must(t, env.Namespace(t.Context(), alertsNamespace))
	t.Cleanup(func() { deleteNamespace(t, alertsNamespace) })
	w := &watch{API: connected, namespace: alertsNamespace, rules: map[string]alerts.Rule{}, path: runbookPath(t)}
	w.load(t)
	return w
}

// load gives Prometheus the alerts, and waits until it has all of them and scrapes the operator.
func (w *watch) load(t *testing.T) {
	t.Helper()
	timing := alerts.Timing{Scale: alertScale}
	groups := slices.Concat(alerts.ForClusters(w.namespace, timing), alerts.ForOperator(timing))
	for _, group := range groups {
		for _, rule := range group.Rules {
			rule.Labels["story"] = "quick"
			w.rules[rule.Alert] = rule
		}
	}
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"groups": groups}})
	must(t, err)
	object := &unstructured.Unstructured{}
	must(t, json.Unmarshal(text, &object.Object))
	object.SetGroupVersionKind(resources.PrometheusRuleKind)
	object.SetNamespace(w.namespace)
	object.SetName("quick")
	must(t, env.Create(t.Context(), object))
	s := &alerted{trial: &trial{story: w.about(t, "")}, watch: w}
	must(t, harness.Await(t.Context(), "Prometheus has the quick alerts", limit, func(ctx context.Context) (string, bool) {
		missing := maps.Clone(w.rules)
		all, err := harness.Alerts(ctx, w)
		for _, rule := range all {
			if rule.Labels["story"] == "quick" && rule.Health == promv1.RuleHealthGood {
				delete(missing, rule.Name)
			}
		}
		return fmt.Sprintf("it lacks %v, %v", slices.Sorted(maps.Keys(missing)), err), err == nil && len(missing) == 0
	}))
	s.tells("the operator", operatorUp)
}

// operatorUp has a result if Prometheus reaches the operator.
const operatorUp = `up{job="` + alerts.Job + `"} == 1`

// about is a story about a cluster of the namespace, or about none.
func (w *watch) about(t *testing.T, name string) *story {
	return &story{Cluster: &harness.Cluster{Env: env, Namespace: w.namespace, Name: name}, t: t}
}

// result is what Prometheus answers at the moment.
func (w *watch) result(ctx context.Context, expression string) (model.Vector, error) {
	value, _, _, err := w.Query(ctx, expression, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("ask Prometheus for %s: %w", expression, err)
	}
	vector, is := value.(model.Vector)
	if !is {
		return nil, fmt.Errorf("ask Prometheus for %s: %v is no vector", expression, value)
	}
	return vector, nil
}

// tells waits until Prometheus has a result.
func (s *alerted) tells(what, expression string) {
	s.t.Helper()
	s.awaits("Prometheus tells of "+what+": "+expression, func(ctx context.Context) (bool, error) {
		found, err := s.result(ctx, expression)
		return len(found) > 0, err
	})
}

// told has a result while the alert is told, in that state; in any if it is empty.
func (s *alerted) told(state string) string {
	labels := []string{fmt.Sprintf("alertname=%q", s.alert), quick}
	if state != "" {
		labels = append(labels, fmt.Sprintf("alertstate=%q", state))
	}
	if s.selected != "" {
		labels = append(labels, s.selected)
	}
	return "ALERTS{" + strings.Join(labels, ", ") + "}"
}

// silent waits until nothing is told.
func (s *alerted) silent() {
	s.t.Helper()
	s.awaits("is silent before the fault", func(ctx context.Context) (bool, error) {
		found, err := s.result(ctx, s.told(""))
		return len(found) == 0, err
	})
}

// fires waits until the alert is told.
func (s *alerted) fires() {
	s.t.Helper()
	s.awaits("fires", func(ctx context.Context) (bool, error) {
		found, err := s.result(ctx, s.told("firing"))
		return len(found) > 0, err
	})
	s.t.Logf("%s fires %.0f s after the fault began", s.alert, time.Since(s.broken).Seconds())
}

// clears waits until the alert is told no more, by a Prometheus that knows enough to judge.
func (s *alerted) clears() {
	s.t.Helper()
	s.awaits("is silent again, and "+s.known+" has a result", func(ctx context.Context) (bool, error) {
		found, err := s.result(ctx, s.told(""))
		if err != nil || len(found) > 0 {
			return false, err
		}
		found, err = s.result(ctx, s.known)
		return len(found) > 0, err
	})
	s.t.Logf("%s is silent %.0f s after the runbook's first command", s.alert, time.Since(s.mended).Seconds())
}

// awaits waits until Prometheus is as wanted, and says what it knows if it is not so in time.
func (s *alerted) awaits(what string, holds func(context.Context) (bool, error)) {
	s.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(s.t.Context(), time.Second, alertLimit, true, func(ctx context.Context) (done bool, _ error) {
		done, last = holds(ctx)
		return done && last == nil, nil
	})
	if err != nil {
		s.t.Fatalf("%s: %s: not after %v (%v)\n%s", s.alert, what, alertLimit, last, s.view())
	}
}

// selectors are the metrics in an expression, with their labels.
var selectors = regexp.MustCompile(`\b[a-z_]+\{[^}]*\}`)

// view is what Prometheus knows of the alert: its state, the result of its expression, the metrics in that, and who is scraped.
func (s *alerted) view() string {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	rule := s.rules[s.alert]
	asked := []string{s.told(""), rule.Expr}
	for _, metric := range selectors.FindAllString(rule.Expr, -1) {
		asked = append(asked, strings.Replace(metric, `etcd_cluster!=""`, `etcd_cluster!="", `+s.selected, 1))
	}
	asked = append(asked, fmt.Sprintf("up{namespace=%q}", s.namespace), fmt.Sprintf("up{job=%q}", alerts.Job))
	text := fmt.Sprintf("Prometheus's view (for: %s)\n", rule.For)
	seen := map[string]bool{}
	for _, expression := range asked {
		if expression == "" || seen[expression] {
			continue
		}
		seen[expression] = true
		const most = 3000
		found, err := s.result(ctx, expression)
		answer := found.String()
		text += fmt.Sprintf("- %s\n  %d series, %v\n%s\n", expression, len(found), err, answer[:min(len(answer), most)])
	}
	if s.Name != "" {
		if object, err := s.Cluster.Get(ctx); err == nil {
			text += "status: " + harness.Words(object)
		}
	}
	return text
}

// noneCritical wants no critical alert about the cluster to have fired since the fault began.
func (s *alerted) noneCritical() {
	s.t.Helper()
	expression := fmt.Sprintf(`max_over_time(ALERTS{%s, %s, severity="critical", alertstate="firing"}[%.0fs])`,
		quick, s.selected, time.Since(s.broken).Seconds())
	found, err := s.result(s.t.Context(), expression)
	must(s.t, err)
	if len(found) > 0 {
		s.t.Errorf("with one node lost, what is critical was told: %v", found)
	}
}
