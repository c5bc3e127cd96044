package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// claimFile names the state folder of the one lab of this machine: labs share addresses, so there is only one.
const claimFile = "/run/etcd-operator-lab"

// Claim makes this the machine's lab, or says which one is. A claim does not outlive a reboot, nor does a lab.
func (d Dir) Claim() error {
	owner, err := Owner()
	if err != nil {
		return err
	}
	if owner == d {
		return nil
	}
	if owner != "" {
		return fmt.Errorf("another lab is on this machine, with its state in %s: take that one down first (%s=%s)",
			owner, Variable, owner)
	}
	if err := os.WriteFile(claimFile, []byte(d+"\n"), 0o644); err != nil { // #nosec G306 -- for all to see
		return fmt.Errorf("claim this machine for the lab: %w", err)
	}
	return nil
}

// Release ends the claim.
func (d Dir) Release() error {
	if err := os.Remove(claimFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release this machine: %w", err)
	}
	return nil
}

// Owner returns the state folder of the machine's lab, or nothing if there is none.
func Owner() (Dir, error) {
	data, err := os.ReadFile(claimFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("find this machine's lab: %w", err)
	}
	return Dir(strings.TrimSpace(string(data))), nil
}
