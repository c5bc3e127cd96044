package alerts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/alerts"
)

// promtool runs it in a folder that has the alerts in rules.yaml.
func promtool(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	program := os.Getenv("TEST_ASSET_PROMTOOL")
	if program == "" {
		t.Fatal("TEST_ASSET_PROMTOOL is not set: run make test-alerts")
	}
	run := exec.CommandContext(t.Context(), program, args...)
	run.Dir = dir
	out, err := run.CombinedOutput()
	return string(out), err
}

// write writes an object to a file in a folder.
func write(t *testing.T, dir, name string, object any) {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// groups are all alerts, those about clusters for the namespace of the cases' series.
func groups(scale int) []alerts.Group {
	timing := alerts.Timing{Scale: scale}
	return slices.Concat(alerts.ForClusters("ns", timing), alerts.ForOperator(timing))
}

// TestRulesAreValid has promtool read every expression and template, in use and as tests on a lab scale them.
func TestRulesAreValid(t *testing.T) {
	for _, scale := range []int{1, 20} {
		dir := t.TempDir()
		write(t, dir, "rules.yaml", map[string]any{"groups": groups(scale)})
		out, err := promtool(t, dir, "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
		if err != nil || !strings.Contains(out, "SUCCESS") {
			t.Errorf("scaled by %d: %v\n%s", scale, err, out)
		}
	}
}

// TestAlertsFire has each alert fire on what it is for, no sooner than it should, stop once that is over, and be silent at what only looks
// like it.
func TestAlertsFire(t *testing.T) {
	told := map[string]bool{}
	for _, c := range cases() {
		t.Run(c.alert+"/"+c.name, func(t *testing.T) { c.judge(t, 1, time.Minute) })
		told[c.alert] = told[c.alert] || slices.Contains(c.firing, true)
	}
	for _, group := range groups(1) {
		for _, rule := range group.Rules {
			if !told[rule.Alert] {
				t.Errorf("nothing has %s fire", rule.Alert)
			}
		}
	}
}

// TestQuickAlertsFire has alerts fire as they are scaled on the lab, and scraped there: those of which a window or a time cannot be as short
// as the scale says, or has few scrapes.
func TestQuickAlertsFire(t *testing.T) {
	for _, c := range quickCases() {
		t.Run(c.alert+"/"+c.name, func(t *testing.T) { c.judge(t, 20, 2*time.Second) })
	}
}

// scenario is a history of series, and when the alert fires in it.
type scenario struct {
	alert, name string
	// series are values a step apart, in promtool's notation. A step is a minute if nothing else is said.
	series map[string]string
	// steps are when the alert is looked at, and firing whether it fires then.
	steps  []int
	firing []bool
}

// judge has promtool compare what fires with what should.
func (c scenario) judge(t *testing.T, scale int, step time.Duration) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "rules.yaml", map[string]any{"groups": groups(scale)})
	write(t, dir, "test.yaml", c.file(step))
	if out, err := promtool(t, dir, "test", "rules", "test.yaml"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// file is the scenario for promtool. All other alerts are evaluated, too, and not looked at.
func (c scenario) file(step time.Duration) map[string]any {
	var input, checks []map[string]any
	for name, values := range c.series {
		input = append(input, map[string]any{"series": name, "values": values})
	}
	for i, at := range c.steps {
		checks = append(checks, map[string]any{
			"expr":        fmt.Sprintf(`count(ALERTS{alertname=%q, alertstate="firing"}) > bool 0 or vector(0)`, c.alert),
			"eval_time":   seconds(time.Duration(at) * step),
			"exp_samples": []map[string]any{{"labels": "{}", "value": map[bool]int{true: 1}[c.firing[i]]}},
		})
	}
	return map[string]any{
		"rule_files": []string{"rules.yaml"}, "evaluation_interval": seconds(step),
		"tests": []map[string]any{{"interval": seconds(step), "input_series": input, "promql_expr_test": checks}},
	}
}

// seconds is a time as Prometheus writes it.
func seconds(d time.Duration) string { return fmt.Sprintf("%.0fs", d.Seconds()) }
