package task

import (
	"bytes"
	"encoding/json"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// maxResult is the maximum length of a termination message, in bytes. The kubelet truncates a longer one, which would leave
// invalid JSON.
const maxResult = 4096

// Encode returns the Result as a termination message. What does not fit is left out, the least important first.
func (r Result) Encode() ([]byte, error) {
	for {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // a URL's & would take six bytes
		if err := encoder.Encode(r); err != nil {
			return nil, err
		}
		if text.Len() <= maxResult || !r.shorten() {
			return bytes.TrimSpace(text.Bytes()), nil
		}
	}
}

// shorten leaves something out. It returns false if nothing more can be.
func (r *Result) shorten() bool {
	switch {
	case len(r.Deleted) > 0:
		r.Deleted = r.Deleted[:len(r.Deleted)/2]
	case len(r.Lineages) > 1:
		r.Lineages = r.Lineages[:len(r.Lineages)-1]
	case len(r.Warnings) > 0:
		r.Warnings = r.Warnings[:len(r.Warnings)/2]
	case len(r.Lineages) > 0:
		r.Lineages = nil
	case r.Snapshot != nil:
		// Its name and its folder's can be 1024 characters long, each of several bytes.
		r.Snapshot = nil
		r.Failure = &failure.Problem{
			Reason: v1beta2.ReasonStorageMisconfigured, Terminal: true,
			Message: "the names of the objects are too long for the result: use a shorter URL",
		}
	case r.Failure != nil && r.Failure.Message != "":
		short := *r.Failure
		short.Message = strings.ToValidUTF8(short.Message[:len(short.Message)/2], "")
		r.Failure = &short
	default:
		return false
	}
	return true
}

// ParseResult reads a termination message; ok is false if it does not match the exit code, because the process was killed, or if it
// is the end of a log.
func ParseResult(text string, exitCode int32) (r Result, ok bool) {
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Result{}, false
	}
	if r.Failure != nil {
		return r, exitCode != 0 && r.Failure.Reason != ""
	}
	return r, exitCode == 0
}
