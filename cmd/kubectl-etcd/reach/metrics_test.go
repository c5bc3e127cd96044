package reach

import (
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
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
