package build

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Need is a program that is not built here but must be on the machine.
type Need struct {
	// Program is its name, looked for in PATH.
	Program string
	// Package is the Debian package that has it.
	Package string
}

// EnsurePrograms installs the Debian packages of those programs that this machine lacks. Where that is not possible,
// without root or elsewhere than on Debian and its relatives, the error says what to install. Out gets a line if
// anything is installed.
func EnsurePrograms(ctx context.Context, out io.Writer, needs []Need) error {
	var missing []string
	for _, need := range needs {
		if _, err := exec.LookPath(need.Program); err != nil {
			missing = append(missing, need.Package)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this machine lacks programs of the Debian packages %s, and has no apt-get: install them", names)
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("this machine lacks the Debian packages %s: run \"apt-get install %s\" as root", names, names)
	}
	_, _ = fmt.Fprintf(out, "installing Debian packages: %s\n", names)
	for _, args := range [][]string{{"update", "-q"}, append([]string{"install", "-q", "-y"}, missing...)} {
		cmd := exec.CommandContext(ctx, "apt-get", args...) // #nosec G204 -- the callers' fixed names
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, lastLines(output.String()))
		}
	}
	return nil
}
