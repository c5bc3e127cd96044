package version

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// Kind is the kind of a step from one etcd version to another.
type Kind int

// Kinds of steps. A patch step goes either way.
const (
	Same Kind = iota
	Patch
	MinorUp
	MinorDown
)

// Step returns how etcd goes from one version to another in one step, or an error with why it cannot and what to do.
// etcd's upgrade guides require one minor version at a time, and a minimum patch release to start from; its downgrade API goes down
// by one minor version.
func Step(current, target string) (Kind, error) {
	from, err := semver.StrictNewVersion(current)
	if err != nil {
		return Same, fmt.Errorf("the running version %q is not a version: %w", current, err)
	}
	to, err := semver.StrictNewVersion(target)
	if err != nil {
		return Same, fmt.Errorf("spec.version %q is not a version such as %s: %w", target, DefaultEtcd, err)
	}
	switch {
	case from.Equal(to):
		return Same, nil
	case from.Major() == to.Major() && from.Minor() == to.Minor():
		return Patch, nil
	case to.Major() == from.Major() && to.Minor() == from.Minor()+1:
		return MinorUp, leave(from, to)
	case to.Major() == from.Major() && to.Minor()+1 == from.Minor():
		return MinorDown, nil
	case to.GreaterThan(from):
		return Same, fmt.Errorf("spec.version asks for %s but the cluster runs %s: etcd is upgraded one minor version at "+
			"a time, so set %d.%d.x first", to, from, from.Major(), from.Minor()+1)
	}
	return Same, fmt.Errorf("spec.version asks for %s but the cluster runs %s: etcd is downgraded one minor version at "+
		"a time, so set %d.%d.x first", to, from, from.Major(), from.Minor()-1)
}

// leave validates the patch release that a minor upgrade starts from.
func leave(from, to *semver.Version) error {
	floor, known := floors[from.Minor()]
	if known && from.Patch() < floor {
		return fmt.Errorf("spec.version asks for %s but the cluster runs %s: etcd must be upgraded to %d.%d.%d or later "+
			"first", to, from, from.Major(), from.Minor(), floor)
	}
	return nil
}
