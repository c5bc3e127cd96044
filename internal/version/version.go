package version

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Operator is the version of this operator, set by the linker; "dev" in a plain build.
var Operator = "dev"

// DefaultEtcd is what a cluster runs when its spec names no version.
const DefaultEtcd = "3.6.16"

// Tested are the etcd versions that this operator is tested with, the newest of each minor release.
var Tested = []string{"3.5.35", DefaultEtcd, "3.7.3"}

// DefaultRepository is where etcd's images come from when neither the spec nor the operator's environment names a repository.
const DefaultRepository = "quay.io/coreos/etcd"

// floors are the lowest supported patch releases by minor, from etcd's upgrade guides: older ones have membership and consistency
// bugs that an operator cannot work around.
var floors = map[uint64]uint64{5: 32, 6: 11, 7: 0}

// Normalize returns the version without the leading "v" that old manifests may carry, or the default for none.
func Normalize(v string) string {
	if v == "" {
		return DefaultEtcd
	}
	return strings.TrimPrefix(v, "v")
}

// Newest is the newest release that this operator is tested with of a minor release such as "3.6", with or without a leading "v"; empty of
// what is no minor release, or of one without such a release.
func Newest(minor string) string {
	newest := ""
	for _, v := range Tested {
		if Minor(v) == strings.TrimPrefix(minor, "v") && Compare(v, newest) > 0 {
			newest = v
		}
	}
	return newest
}

// Resolve is the whole version that a spec asks for: the one that it names, or of a minor release the last one, if that is of it and still supported, and
// otherwise the newest. So an operator that is tested with a newer one updates nothing by that alone. What is neither comes back as it is.
func Resolve(asked, last string) string {
	newest := Newest(asked)
	switch {
	case newest == "":
		return asked
	case Minor(last) == Minor(newest) && Supported(Normalize(last)) == nil:
		return last
	}
	return newest
}

// minors are the minor releases of the tested versions.
func minors() string {
	var all []string
	for _, v := range Tested {
		all = append(all, Minor(v))
	}
	return strings.Join(all, ", ")
}

// Supported returns an error that says what to do if this operator does not support that etcd version.
func Supported(v string) error {
	parsed, err := semver.StrictNewVersion(v)
	if err != nil && strings.Count(v, ".") == 1 && Minor(v) != "" {
		return fmt.Errorf("etcd %s is no minor release that this operator supports: use one of %s, or name a whole version such as %s",
			v, minors(), DefaultEtcd)
	}
	if err != nil {
		return fmt.Errorf("spec.version %q is not a version such as %s: %w", v, DefaultEtcd, err)
	}
	floor, known := floors[parsed.Minor()]
	switch {
	case parsed.Major() != 3 || parsed.Minor() > 7:
		return fmt.Errorf("etcd %s is not supported by this operator: use one of %s, or another patch release of the same minor versions",
			v, strings.Join(Tested, ", "))
	case !known:
		return fmt.Errorf("etcd %s is too old: start with %s; data of etcd 3.4 and older must first be upgraded to 3.5 "+
			"one minor at a time", v, DefaultEtcd)
	case parsed.Patch() < floor:
		return fmt.Errorf("etcd %s has known membership or consistency bugs: use 3.%d.%d or later",
			v, parsed.Minor(), floor)
	}
	return nil
}
