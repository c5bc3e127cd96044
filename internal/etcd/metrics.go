package etcd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// metricsTimeout is how long a member may take to serve its metrics.
	metricsTimeout = time.Second
	// metricsLimit is how many bytes of them are read, unpacked: a member's are some 200 KB.
	metricsLimit = 1 << 20
	// parsedLimit is how many bytes of them are parsed, which takes fifty times as much memory: those of the families that
	// matter are some 2 KB.
	parsedLimit = 64 << 10
)

// The families that matter.
const (
	flushFamily     = "etcd_disk_wal_fsync_duration_seconds"
	committedFamily = "etcd_server_proposals_committed_total"
	leaderFamily    = "etcd_server_has_leader"
	receiveFamily   = "etcd_network_snapshot_receive_inflights_total"
	applyFamily     = "etcd_server_snapshot_apply_in_progress_total"
	probeFamily     = "etcd_network_peer_round_trip_time_seconds"
)

// parsedFamilies are the families all of whose samples are parsed: see also ofSnapshots.
var parsedFamilies = [][]byte{
	[]byte(flushFamily), []byte(committedFamily), []byte(leaderFamily), []byte(receiveFamily), []byte(applyFamily),
	[]byte(probeFamily), []byte(defragmentFamily), []byte(sendFamily), []byte(compactFamily), []byte(removedFamily),
}

// metricsClient reads plain HTTP, as a kubelet does. It follows no redirect, keeps no connection and uses no proxy.
var metricsClient = &http.Client{
	Timeout:       metricsTimeout,
	Transport:     &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: headerLimit},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// sample is the state of a member's write-ahead log by its metrics at one time.
type sample struct {
	at time.Time
	// flushes have ended since the server started, and took so long together.
	flushes uint64
	spent   time.Duration
	// committed is the last raft index that the member knows to be committed.
	committed uint64
	// led is true while the member knows a leader.
	led bool
	// copying is true while the member receives or applies a snapshot: its log stands still then, and that is right.
	copying bool
}

// sampleOf is what a member's metrics tell of its write-ahead log.
func sampleOf(ctx context.Context, address string) (sample, error) {
	families, err := metricsOf(ctx, address)
	if err != nil {
		return sample{}, err
	}
	flushes := families[flushFamily].GetMetric()
	if len(flushes) == 0 {
		return sample{}, fmt.Errorf("the metrics of %s have no disk durations", address)
	}
	histogram := flushes[0].GetHistogram()
	return sample{
		at: time.Now(), flushes: histogram.GetSampleCount(),
		spent:     time.Duration(histogram.GetSampleSum() * float64(time.Second)),
		committed: uint64(max(0, gauge(families[committedFamily]))),
		led:       gauge(families[leaderFamily]) > 0,
		copying:   gauge(families[receiveFamily]) > 0 || gauge(families[applyFamily]) > 0,
	}, nil
}

// metricsOf returns the families that matter.
func metricsOf(ctx context.Context, address string) (families map[string]*dto.MetricFamily, err error) {
	err = readMetrics(ctx, address, func(text io.Reader) error {
		families, err = parse(text)
		return err
	})
	return families, err
}

// get asks a member by plain HTTP, at the address where it serves its metrics, for a page, which is what is wanted. Whoever gets a response has it read by
// readAnswer, and closes its body.
func get(ctx context.Context, address, page, what string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+page, nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", address, what, err)
	}
	request.Header.Set("Accept-Encoding", "gzip") // asked for by name, so that net/http does not unpack it
	response, err := metricsClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", address, what, err)
	}
	return response, nil
}

// readMetrics asks a member for its metrics. They are answered by a part of etcd that needs neither the disk nor the others.
func readMetrics(ctx context.Context, address string, read func(text io.Reader) error) error {
	response, err := get(ctx, address, "/metrics", "its metrics")
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("ask %s for its metrics: %s", address, response.Status)
	}
	if err := readAnswer(ctx, response, read); err != nil {
		return fmt.Errorf("read the metrics of %s: %w", address, err)
	}
	return nil
}

// parse reads the families that matter, and passes over the others line by line: whatever answers at a member's address may
// serve any number of them.
func parse(text io.Reader) (map[string]*dto.MetricFamily, error) {
	var matter bytes.Buffer
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line := lines.Bytes()
		if !matters(line) {
			continue
		}
		if matter.Len()+len(line) > parsedLimit {
			return nil, errors.New("the response is larger than etcd's metrics")
		}
		matter.Write(line)
		matter.WriteByte('\n')
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	return parser.TextToMetricFamilies(&matter)
}

// matters reports whether a line is of a family that matters: a sample of it, or its type.
func matters(line []byte) bool {
	name, declares := bytes.CutPrefix(line, []byte("# TYPE "))
	if declares && (bytes.HasPrefix(name, []byte(startedFamily)) || bytes.HasPrefix(name, []byte(handledFamily))) || ofSnapshots(name) {
		return true
	}
	return slices.ContainsFunc(parsedFamilies, func(family []byte) bool { return bytes.HasPrefix(name, family) })
}

// gauge is the sum over a family's gauges, 0 for a family that is not there.
func gauge(family *dto.MetricFamily) float64 {
	sum := 0.0
	for _, m := range family.GetMetric() {
		sum += m.GetGauge().GetValue()
	}
	return sum
}
