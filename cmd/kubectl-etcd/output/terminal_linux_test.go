package output

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestColoured has colours at a terminal that knows them, for a person who wants them, and nowhere else.
func TestColoured(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	screen := terminalOf(t)
	for title, test := range map[string]struct {
		out             *os.File
		noColour, kind  string
		coloured, asked bool
	}{
		"a terminal":         {screen, "", "xterm", true, true},
		"NO_COLOR":           {screen, "1", "xterm", false, true},
		"one without colour": {screen, "", "dumb", false, true},
		"a file":             {file, "", "xterm", false, false},
	} {
		t.Setenv("NO_COLOR", test.noColour)
		t.Setenv("TERM", test.kind)
		if got := Coloured(genericiooptions.IOStreams{Out: test.out}); got != test.coloured {
			t.Errorf("%s: coloured is %v", title, got)
		}
		if got := isTerminal(test.out); got != test.asked {
			t.Errorf("%s: somebody can be asked: %v", title, got)
		}
	}
}

// terminalOf is a terminal that nobody looks at (pts(4)).
func terminalOf(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	return screen
}
