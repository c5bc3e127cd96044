package reach

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
)

const (
	// fsyncFamily is how long etcd's writes to its log take to be on the disk, in seconds.
	fsyncFamily = "etcd_disk_wal_fsync_duration_seconds"
	// roundTripFamily is how long a probe to another member takes, in seconds, by the label To, which is its ID in hexadecimal.
	roundTripFamily = "etcd_network_peer_round_trip_time_seconds"
	// share is what the quantiles that are shown are of all.
	share = 0.99
	// metricsLimit is several times what etcd's metrics take, in bytes.
	metricsLimit = 4 << 20
)

// metricsClient follows no redirect and uses no proxy: whoever answers in a member's place has nothing asked anywhere else.
var metricsClient = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// scrape gets the metrics of a member, as text.
func scrape(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := metricsClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET /metrics: %s", response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, metricsLimit))
}

// measure adds to an answer what the member's metrics tell, or why they tell nothing.
func measure(ctx context.Context, address string, answer *report.Answer) {
	text, err := scrape(ctx, address)
	if err == nil {
		err = answerOf(text, answer)
	}
	if err != nil {
		answer.MetricsProblem = "its metrics cannot be read: " + err.Error()
	}
}

// answerOf adds to an answer what these metrics tell.
func answerOf(text []byte, answer *report.Answer) error {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return err
	}
	answer.Fsync, answer.RoundTrips = fsync(families), roundTrips(families)
	return nil
}

// fsync is how long 99 of 100 writes to the member's log have taken at most since it started, 0 if it does not say.
func fsync(families map[string]*dto.MetricFamily) time.Duration {
	if len(families[fsyncFamily].GetMetric()) == 0 {
		return 0
	}
	return seconds(quantile(families[fsyncFamily].GetMetric()[0].GetHistogram(), share))
}

// roundTrips are how long 99 of 100 of them have taken at most since the member started, by the ID of the other one.
func roundTrips(families map[string]*dto.MetricFamily) map[uint64]time.Duration {
	all := map[uint64]time.Duration{}
	for _, m := range families[roundTripFamily].GetMetric() {
		for _, label := range m.GetLabel() {
			if id, err := strconv.ParseUint(label.GetValue(), 16, 64); label.GetName() == "To" && err == nil {
				all[id] = seconds(quantile(m.GetHistogram(), share))
			}
		}
	}
	return all
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

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
