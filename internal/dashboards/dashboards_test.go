package dashboards_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/dashboards"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// names are metrics in an expression or in the query of a variable.
var names = regexp.MustCompile(`\b(etcd_(operator|server|disk|mvcc|network|debugging|snap)_\w+|grpc_server_\w+|process_\w+|controller_runtime_\w+|workqueue_\w+|up)\b`)

// known are the types of all metrics that there are: the operator's own, members' as they were recorded, and those of both's libraries.
func known(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"up": "gauge", "controller_runtime_reconcile_errors_total": "counter"}
	text, err := os.ReadFile("testdata/etcd-metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, kind, found := strings.Cut(strings.TrimSpace(line), " "); found && !strings.HasPrefix(line, "#") {
			all[name] = kind
		}
	}
	for _, family := range metrics.Families() {
		all[family.Name] = string(family.Type)
	}
	for name, kind := range all {
		if kind == "histogram" {
			all[name+"_bucket"], all[name+"_count"], all[name+"_sum"] = "counter", "counter", "counter"
		}
	}
	return all
}

// each calls back for every query of every panel.
func each(t *testing.T, look func(t *testing.T, p dashboards.Panel, q dashboards.Query)) {
	t.Helper()
	for _, d := range dashboards.All() {
		for _, p := range d.Panels() {
			t.Run(d.Name+"/"+p.Title, func(t *testing.T) {
				for _, q := range p.Queries {
					look(t, p, q)
				}
			})
		}
	}
}

// TestMetricsExist wants every metric to be exported, and counters to be shown by how fast they grow.
func TestMetricsExist(t *testing.T) {
	t.Parallel()
	all := known(t)
	each(t, func(t *testing.T, _ dashboards.Panel, q dashboards.Query) {
		found := names.FindAllStringIndex(q.Expr, -1)
		if len(found) == 0 {
			t.Errorf("no metric is in %s", q.Expr)
		}
		for _, at := range found {
			name, before := q.Expr[at[0]:at[1]], q.Expr[:at[0]]
			kind, exists := all[name]
			if !exists {
				t.Errorf("there is no metric %s", name)
			}
			if rated := strings.HasSuffix(before, "rate(") || strings.HasSuffix(before, "increase("); kind == "counter" && !rated {
				t.Errorf("the counter %s is shown as it is", name)
			} else if kind == "gauge" && rated {
				t.Errorf("the gauge %s is shown by its growth", name)
			}
			if strings.HasPrefix(name, "etcd_debugging_") {
				t.Errorf("%s may change with any version of etcd", name)
			}
		}
	})
	for _, d := range dashboards.All() {
		for _, v := range d.Variables {
			for _, name := range names.FindAllString(v.Values, -1) {
				if _, exists := all[name]; !exists {
					t.Errorf("%s chooses from %s, which does not exist", d.Name, name)
				}
			}
		}
	}
}

// TestUnits wants the unit of a panel to be that of its metrics.
func TestUnits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p dashboards.Panel, q dashboards.Query) {
		if p.Kind == dashboards.Table {
			return
		}
		name, counts := names.FindString(q.Expr), strings.HasPrefix(q.Expr, "count(")
		rate, share := strings.Contains(q.Expr, "rate("), strings.Contains(q.Expr, ") / (") || strings.HasSuffix(name, "_ratio")
		want := []dashboards.Unit{dashboards.None}
		switch {
		case counts:
		case share:
			want = []dashboards.Unit{dashboards.Ratio}
		case strings.HasSuffix(name, "_seconds_bucket"), strings.HasSuffix(name, "_timestamp_seconds"), strings.HasSuffix(name, "seconds_until_quota"):
			want = []dashboards.Unit{dashboards.Seconds}
		case strings.Contains(name, "cpu_seconds"): // seconds a second
		case strings.Contains(name, "bytes") && rate:
			want = []dashboards.Unit{dashboards.BytesASecond}
		case strings.Contains(name, "bytes"):
			want = []dashboards.Unit{dashboards.Bytes}
		case rate:
			want = []dashboards.Unit{dashboards.EventsASecond, dashboards.RequestsASec}
		}
		for _, unit := range want {
			if p.Unit == unit {
				return
			}
		}
		t.Errorf("the unit of %s is %s, want %v", q.Expr, p.Unit, want)
	})
}

// TestChosen wants every query about clusters or backups to be limited to what is chosen, and every series to have a name.
func TestChosen(t *testing.T) {
	t.Parallel()
	for _, d := range dashboards.All() {
		several := map[string]bool{}
		for _, v := range d.Variables {
			several[v.Name] = v.Several
		}
		for _, p := range d.Panels() {
			if p.Description == "" || p.Title == "" {
				t.Errorf("%s/%s says nothing", d.Name, p.Title)
			}
			for _, q := range p.Queries {
				for _, variable := range regexp.MustCompile(`(=~?)"\$(\w+)"`).FindAllStringSubmatch(q.Expr, -1) {
					regex, known := several[variable[2]]
					if !known || regex != (variable[1] == "=~") {
						t.Errorf("%s/%s selects by %s", d.Name, p.Title, variable[0])
					}
				}
				for _, about := range regexp.MustCompile(`\b(etcd_operator_(cluster|backup)|etcd_(server|disk|mvcc|network)|grpc_server)_\w+(\{[^}]*\})?`).FindAllStringSubmatch(q.Expr, -1) {
					if !strings.Contains(about[4], "$namespace") {
						t.Errorf("%s/%s shows %s of all namespaces", d.Name, p.Title, about[0])
					}
				}
				if grouped := regexp.MustCompile(`^(topk|bottomk|max by|sum by|histogram_quantile)`).MatchString(q.Expr); grouped && q.Legend == "" {
					t.Errorf("%s/%s shows series without names", d.Name, p.Title)
				}
			}
		}
	}
}

// TestJSON wants what Grafana imports to have all panels, each at a place of its own on the grid.
func TestJSON(t *testing.T) {
	t.Parallel()
	for _, d := range dashboards.All() {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			UID    string `json:"uid"`
			Panels []struct {
				ID      int    `json:"id"`
				Type    string `json:"type"`
				GridPos struct {
					X, Y, W, H int
				} `json:"gridPos"`
			} `json:"panels"`
		}
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if want := len(d.Panels()) + len(d.Rows); read.UID != d.UID || len(read.Panels) != want {
			t.Errorf("%s has %d panels, want %d", d.Name, len(read.Panels), want)
		}
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range read.Panels {
			if ids[p.ID] {
				t.Errorf("%s: two panels are number %d", d.Name, p.ID)
			}
			ids[p.ID] = true
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
						t.Errorf("%s: panel %d lies on %s, or outside", d.Name, p.ID, other)
					}
					taken[[2]int{x, y}] = "panel " + p.Type
				}
			}
		}
	}
}
