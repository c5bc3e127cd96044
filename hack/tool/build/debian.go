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

// need is a program that cannot be built as static Go, and the Debian package that has it.
type need struct{ program, pkg string }

// labNeeds is what every lab needs.
var labNeeds = []need{
	{"runc", "runc"},
	{"iptables", "iptables"},
	{"nft", "nftables"},
	{"ip", "iproute2"},
	{"conntrack", "conntrack"},
	{"busybox", "busybox-static"},
	{"mkfs.ext4", "e2fsprogs"},
}

// npmNeeds is what tools that are npm packages need.
var npmNeeds = []need{
	{"node", "nodejs"},
	{"npm", "npm"},
}

// EnsureDebian installs the Debian packages that the lab needs and this machine lacks.
func EnsureDebian(ctx context.Context, out io.Writer) error {
	return ensurePackages(ctx, out, labNeeds)
}

func ensurePackages(ctx context.Context, out io.Writer, needs []need) error {
	var missing []string
	for _, need := range needs {
		if _, err := exec.LookPath(need.program); err != nil {
			missing = append(missing, need.pkg)
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
		cmd := exec.CommandContext(ctx, "apt-get", args...) // #nosec G204 -- the fixed names above
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, lastLines(output.String()))
		}
	}
	return nil
}
