package reach

import (
	"context"
	"io"
	"math"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// fsyncFamily is how long etcd's writes to its log take to be on the disk, in seconds.
const fsyncFamily = "etcd_disk_wal_fsync_duration_seconds"

// metricsLimit is several times what etcd's metrics take, in bytes.
const metricsLimit = 4 << 20

// metricsClient follows no redirect and uses no proxy: whoever answers in a member's place has nothing asked anywhere else.
var metricsClient = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// fsync is how long 99 of 100 writes to the member's log have taken at most since it started, 0 if it does not say.
func fsync(ctx context.Context, address string) time.Duration {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return 0
	}
	response, err := metricsClient.Do(request)
	if err != nil {
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return 0
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(response.Body, metricsLimit))
	if err != nil || len(families[fsyncFamily].GetMetric()) == 0 {
		return 0
	}
	const share = 0.99
	return time.Duration(quantile(families[fsyncFamily].GetMetric()[0].GetHistogram(), share) * float64(time.Second))
}

// quantile is the value that a share of what was observed does not exceed, taken as spread evenly within each bucket, as PromQL's
// histogram_quantile takes it. What is beyond the last bound counts as that.
func quantile(h *dto.Histogram, share float64) float64 {
	if h.GetSampleCount() == 0 {
		return 0
	}
	rank := share * float64(h.GetSampleCount())
	lower, below := 0.0, 0.0
	for _, b := range h.GetBucket() {
		count := float64(b.GetCumulativeCount())
		if math.IsInf(b.GetUpperBound(), 1) {
			break
		}
		if count >= rank && count > below {
			return lower + (b.GetUpperBound()-lower)*(rank-below)/(count-below)
		}
		lower, below = b.GetUpperBound(), count
	}
	return lower
}
