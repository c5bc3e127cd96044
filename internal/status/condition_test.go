package status

import (
	"errors"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestLongMessages cuts what conditions say to what Kubernetes accepts: one that is longer has the whole status refused.
func TestLongMessages(t *testing.T) {
	in := allAnswer()
	in.Err = errors.New(strings.Repeat("é", messageLimit))
	in.Certificates = &Certificates{Decision: certificates.Decision{Problem: &failure.Problem{Reason: "X", Message: strings.Repeat("x", 2*messageLimit)}}}
	long := 0
	for _, c := range compute(in).Conditions {
		if len(c.Message) > messageLimit {
			t.Errorf("%s has %d bytes", c.Type, len(c.Message))
		}
		if strings.HasSuffix(c.Message, "…") {
			long++
		}
	}
	if long < 2 {
		t.Errorf("%d messages are cut", long)
	}
}
