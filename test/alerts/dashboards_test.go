package alerts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/dashboards"
)

// TestDashboardsAreValid has promtool read every query of the dashboards, as if its result were recorded.
func TestDashboardsAreValid(t *testing.T) {
	var rules []map[string]any
	for _, d := range dashboards.All() {
		for _, panel := range d.Panels() {
			for _, query := range panel.Queries {
				rules = append(rules, map[string]any{
					"record": fmt.Sprintf("panel:%d", len(rules)), "expr": query.With("ns", "c", "5m"),
				})
			}
		}
	}
	dir := t.TempDir()
	write(t, dir, "rules.yaml", map[string]any{"groups": []map[string]any{{"name": "panels", "rules": rules}}})
	out, err := promtool(t, dir, "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
	if err != nil || !strings.Contains(out, fmt.Sprintf("SUCCESS: %d rules found", len(rules))) {
		t.Errorf("%v\n%s", err, out)
	}
}
