package reach

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// TestTail keeps the newest lines of a log, however long they are, and whole ones.
func TestTail(t *testing.T) {
	var log strings.Builder
	for _, line := range []string{"oldest", "older", "old", "new", "newest"} {
		log.WriteString(strings.Repeat(line+" ", 20) + "\n")
	}
	newest := strings.Repeat("newest ", 20) + "\n"
	for most, want := range map[int]string{
		1 << 20: log.String(), log.Len(): log.String(), len(newest) + 10: newest, len(newest) + 1: newest, 5: "",
	} {
		got, err := tail(iotest.OneByteReader(strings.NewReader(log.String())), most)
		if err != nil || string(got) != want {
			t.Errorf("of the last %d bytes: %q, %v", most, got, err)
		}
	}
	if got, err := tail(strings.NewReader(strings.Repeat("x", 100)), 7); err != nil || string(got) != "xxxxxxx" {
		t.Errorf("of one long line: %q, %v", got, err)
	}
	broken := errors.New("broken")
	if _, err := tail(iotest.ErrReader(broken), 7); !errors.Is(err, broken) {
		t.Errorf("of a broken stream: %v", err)
	}
}

// TestReadable passes over what another version has written, and what was cut off.
func TestReadable(t *testing.T) {
	good, err := os.ReadFile("../../../hack/replay/testdata/shrink.log")
	must(t, err)
	future := `{"msg":"observed","replay":{"Observed":{"Cluster":{"Name":"example"}},"Version":"9.9.9","Future":true}}` + "\n"
	passes, unread := readable("starting\n" + future + string(good) + string(good[:len(good)/2]) + "\n")
	if len(passes) != 1 || passes[0].Observed.Cluster.Name != "example" || unread == nil {
		t.Errorf("it reads %d, and says %v", len(passes), unread)
	}
}
