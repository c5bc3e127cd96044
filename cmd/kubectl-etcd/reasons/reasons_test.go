package reasons_test

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// TestOf knows reasons of conditions, with what to do.
func TestOf(t *testing.T) {
	for _, reason := range []string{v1beta2.ReasonQuorumLost, v1beta2.ReasonWriteRefused, v1beta2.ReasonCorrupt, v1beta2.ReasonUpdating} {
		if m := reasons.Of(reason); m.Says == "" || m.Todo == "" || strings.ContainsAny(m.Todo, "|\n") {
			t.Errorf("%s means %+v", reason, m)
		}
	}
	if m := reasons.Of("Sunshine"); m != (reasons.Meaning{}) {
		t.Errorf("of a reason that does not exist: %+v", m)
	}
}

// TestWrite leads to what is said of a reason, in one piece in its column, and nowhere for one that this version does not know.
func TestWrite(t *testing.T) {
	const want = "    why and what to do: https://github.com/etcdpilot/etcd-operator/blob/main/docs/reasons.md#quorumlost\n"
	page := &terminal.Page{}
	reasons.Write(page, 4, v1beta2.ReasonQuorumLost)
	reasons.Write(page, 4, "Sunshine")
	reasons.Write(page, 4, "")
	if got := page.String(); got != want {
		t.Errorf("it is\n%swant\n%s", got, want)
	}
}
