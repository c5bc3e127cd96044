package record

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.etcd.io/etcd/tests/v3/robustness/validate"
	"go.uber.org/zap"
)

// ErrUnknown is returned where there is no verdict: the validators did not come to an end, or lack something.
var ErrUnknown = errors.New("no verdict")

// judgeLimit bounds the search for an order of all operations.
const judgeLimit = 5 * time.Minute

// Judge returns nil if what the clients saw is what etcd promises. Logs are the data folders of members, of former ones too:
// together they hold every request since the cluster was made.
func (r *Recorder) Judge(reports []report.ClientReport, logs []string) (err error) {
	// The validators panic at a request that they do not know.
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("%w: %v", ErrUnknown, found)
		}
	}()
	requests, err := report.PersistedRequests(r.log, logs)
	if err != nil {
		return fmt.Errorf("%w: read the members' logs: %w", ErrUnknown, err)
	}
	config := validate.Config{ExpectRevisionUnique: r.kind.ExpectUniqueRevision()}
	result := validate.ValidateAndReturnVisualize(r.log, config, reports, requests, judgeLimit)
	if late(result) {
		return fmt.Errorf("%w: linearizability was not decided within %s", ErrUnknown, judgeLimit)
	}
	return result.Error()
}

func late(result validate.RobustnessResult) bool {
	status := result.Linearization.Status
	return status == validate.Timeout || status == validate.DeadlineExceeded
}

// Keep writes all that was seen, and copies of the members' data, to a folder, in the form that etcd's own robustness tests use.
func (r *Recorder) Keep(folder string, reports []report.ClientReport, logs map[string]string) error {
	kept, err := report.NewTestReport(r.log, folder, logs, &report.TrafficDetail{ExpectUniqueRevision: r.kind.ExpectUniqueRevision()})
	if err != nil {
		return fmt.Errorf("keep what was seen: %w", err)
	}
	kept.SetClientReports(reports)
	if err := kept.SaveEtcdData(); err != nil {
		return fmt.Errorf("keep what was seen in %s: %w", folder, err)
	}
	return nil
}

// Longest is the longest time without a successful write, between the first one and the last one, over all clients.
func Longest(reports []report.ClientReport) time.Duration {
	var written []int64
	for _, r := range reports {
		for _, o := range r.KeyValue {
			request, known := o.Input.(model.EtcdRequest)
			response, answered := o.Output.(model.MaybeEtcdResponse)
			if known && answered && response.Error == "" && request.Type == model.Txn && !request.IsRead() {
				written = append(written, o.Return)
			}
		}
	}
	slices.Sort(written)
	longest := int64(0)
	for i := 1; i < len(written); i++ {
		longest = max(longest, written[i]-written[i-1])
	}
	return time.Duration(longest)
}

// Count is the number of operations that succeeded, and of all.
func Count(reports []report.ClientReport) (good, all int) {
	for _, r := range reports {
		for _, o := range r.KeyValue {
			all++
			if response, answered := o.Output.(model.MaybeEtcdResponse); answered && response.Error == "" {
				good++
			}
		}
	}
	return good, all
}

// Quiet is a log that holds nothing but errors.
func Quiet() (*zap.Logger, error) {
	config := zap.NewDevelopmentConfig()
	config.Level = zap.NewAtomicLevelAt(zap.ErrorLevel)
	config.DisableStacktrace = true
	log, err := config.Build()
	if err != nil {
		return nil, fmt.Errorf("make a log: %w", err)
	}
	return log, nil
}
