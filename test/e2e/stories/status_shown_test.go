package stories

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// TestStatusShown creates a cluster, and wants its status and its events to be what docs/operations.md shows, but for what varies: ages, who leads, and
// what had to be waited for.
func TestStatusShown(t *testing.T) {
	t.Parallel()
	s := begin(t, "demo", onVolumes(3))
	s.settled()
	want, got := shownIn(t, "kubectl get etcd -o wide"), s.printed("get", "etcd", "-o", "wide")
	if len(want) != 2 || len(got) != 2 || !slices.Equal(strings.Fields(want[0]), strings.Fields(got[0])) {
		t.Fatalf("kubectl shows %q, and the document %q", got, want)
	}
	const storage = 7 // columns up to the reason; after it come the age, and a leader that may be another one
	if now, shown := strings.Fields(got[1]), strings.Fields(want[1]); !slices.Equal(now[:storage], shown[:storage]) || !strings.HasSuffix(want[1], lastCell(got[1])) {
		t.Errorf("kubectl shows %q, and the document %q", now, shown)
	}
	all := strings.Join(s.printed("events", "--for", "etcdcluster/demo"), "\n")
	for _, line := range shownIn(t, "kubectl events --for etcdcluster/demo")[1:] {
		if reason := strings.Fields(line)[2]; !strings.HasPrefix(reason, "Waiting") && !strings.Contains(all, " "+reason+" ") {
			t.Errorf("there is no event %s, which the document shows: %s", reason, all)
		}
	}
}

// lastCell is what is in the last column of a line: cells are apart by more than a space.
func lastCell(line string) string { return line[strings.LastIndex(line, "   ")+3:] }

// shownIn are the lines that docs/operations.md shows below a command.
func shownIn(t *testing.T, command string) []string {
	t.Helper()
	text, err := os.ReadFile(env.Root + "/docs/operations.md")
	must(t, err)
	printed, found := documents.Printed(string(text), command)
	if !found {
		t.Fatalf("the document does not show %s", command)
	}
	printed, _, _ = strings.Cut(printed, "\n\n") // there is another command below
	return strings.Split(printed, "\n")
}

// printed are the lines that kubectl prints.
func (s *story) printed(args ...string) []string {
	s.t.Helper()
	return strings.Split(strings.TrimSpace(string(s.kubectl(append(args, "--namespace", s.Namespace)...))), "\n")
}
