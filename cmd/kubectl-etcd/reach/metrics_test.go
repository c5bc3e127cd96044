package reach

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
)

// TestQuantile takes what etcd counts as spread evenly within each bucket.
func TestQuantile(t *testing.T) {
	for name, test := range map[string]struct {
		counts string
		want   float64
	}{
		"nothing counted":      {`{le="0.001"} 0`, 0},
		"all in the first":     {`{le="0.001"} 100`, 0.00099},
		"one in a hundred":     {"{le=\"0.001\"} 98\nx_bucket{le=\"0.002\"} 100", 0.0015},
		"more than the bounds": {"{le=\"0.001\"} 50\nx_bucket{le=\"0.002\"} 60", 0.002},
	} {
		t.Run(name, func(t *testing.T) {
			count := "100"
			if name == "nothing counted" {
				count = "0"
			}
			text := "# TYPE x histogram\nx_bucket" + test.counts + "\nx_bucket{le=\"+Inf\"} " + count + "\nx_sum 1\nx_count " + count + "\n"
			parser := expfmt.NewTextParser(model.LegacyValidation)
			families, err := parser.TextToMetricFamilies(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			got := quantile(families["x"].GetMetric()[0].GetHistogram(), 0.99)
			if diff := got - test.want; diff > 1e-9 || diff < -1e-9 {
				t.Errorf("the quantile is %v, not %v", got, test.want)
			}
		})
	}
}

// TestMeasure says why nothing is known of a member's disk: before, an error looked as if it had flushed nothing.
func TestMeasure(t *testing.T) {
	const buckets = "# TYPE " + fsyncFamily + " histogram\n" + fsyncFamily + "_bucket{le=\"0.001\"} 100\n" +
		fsyncFamily + "_bucket{le=\"+Inf\"} 100\n" + fsyncFamily + "_sum 0.05\n" + fsyncFamily + "_count 100\n"
	for name, test := range map[string]struct {
		status     int
		text, want string
	}{
		"it tells":     {http.StatusOK, buckets, ""},
		"it refuses":   {http.StatusForbidden, buckets, "403 Forbidden"},
		"no metrics":   {http.StatusOK, "<html>", "its metrics cannot be read: "},
		"nobody there": {0, "", "connect"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.text))
			}))
			defer server.Close()
			if test.status == 0 {
				server.Close()
			}
			var answer report.Answer
			measure(t.Context(), server.Listener.Addr().String(), &answer)
			if known := answer.Fsync > 0; known != (test.want == "") || known != (answer.MetricsProblem == "") || !strings.Contains(answer.MetricsProblem, test.want) {
				t.Errorf("it says %s, %q", answer.Fsync, answer.MetricsProblem)
			}
		})
	}
}
