package stories

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/etcdpilot/etcd-operator/internal/dashboards"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/pictures"
)

// pictured is how much time a picture of a dashboard shows at least.
const pictured = 5 * time.Minute

// pictures leaves a picture of each dashboard in the folder PICTURES, if there is one: of the story's cluster, and what Prometheus answers.
func (p scraper) pictures(s *story, began time.Time) {
	folder := os.Getenv("PICTURES")
	if folder == "" {
		return
	}
	p.t.Helper()
	must(p.t, harness.Await(p.t.Context(), "enough time has gone by for a picture", 2*pictured, func(context.Context) (string, bool) {
		return time.Since(began).Round(time.Second).String(), time.Since(began) > pictured
	}))
	last := time.Now().Truncate(time.Second)
	window := pictures.Window{First: began, Last: last, Step: 5 * time.Second}
	about := fmt.Sprintf("EtcdCluster %s in namespace %s. Drawn by the project's tests from what Prometheus answers to this dashboard's queries", s.Name, s.Namespace)
	must(p.t, os.MkdirAll(folder, 0o755))
	for _, d := range dashboards.All() {
		text, err := d.JSON()
		must(p.t, err)
		drawn, err := pictures.PNG(text, about, window, func(expression string) (model.Matrix, error) {
			return p.series(p.t, dashboards.Query{Expr: expression}.With(s.Namespace, s.Name, "1m"), window)
		})
		must(p.t, err)
		must(p.t, os.WriteFile(filepath.Join(folder, "dashboard-"+d.Name+".png"), drawn, 0o644))
	}
}

// series are what an expression has been in a window.
func (p scraper) series(t *testing.T, expression string, w pictures.Window) (model.Matrix, error) {
	t.Helper()
	value, _, _, err := p.QueryRange(t.Context(), expression, promv1.Range{Start: w.First, End: w.Last, Step: w.Step})
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", expression, err)
	}
	matrix, is := value.(model.Matrix)
	if !is {
		return nil, fmt.Errorf("ask for %s: %v is no matrix", expression, value)
	}
	return matrix, nil
}
