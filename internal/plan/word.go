package plan

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Runs is the version of the server that has answered, empty if that is not known. A single server may say anything, so it is the version that its pod is to
// run. The server itself is believed only if the pod's image does not tell, and until the container is gone that a new image is to replace: if it says a
// version that the operator has given to members, or, as status may have been lost meanwhile, one that can be updated to the pod's.
func (o Observed) Runs(a Answer) string {
	i := slices.IndexFunc(o.Pods, func(p Pod) bool { return p.Name == a.Pod && p.UID == a.PodUID })
	if i < 0 {
		return ""
	}
	p := o.Pods[i]
	tells, believed := p.Version != "" && !p.Restarting, o.gave(a.Version) || leadsTo(a.Version, p.Version)
	if tells || !believed {
		return p.Version
	}
	return a.Version
}

// leadsTo reports whether a supported version can be updated to another one.
func leadsTo(v, next string) bool {
	_, err := version.Step(v, next)
	return err == nil && version.Supported(v) == nil
}

// gave reports whether the operator has given that version to members, or is to. Pods do not tell: anyone can create one.
func (o Observed) gave(v string) bool {
	c := o.Cluster
	return v != "" && (v == c.Version || v == c.LowestVersion || v == c.Tuned.Patch.InsteadOf ||
		slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.Owned && c.Version == v }))
}

// downgradeTarget returns the version for which etcd's downgrade is enabled, empty if none is: what more than half of the voters say that can tell.
// If they are about to agree on it, and some are behind, to enable or cancel it once more changes nothing.
func (v *view) downgradeTarget() string {
	told, can := map[string]int{}, 0
	for _, m := range v.voters {
		if a, ok := v.answer(m); ok && m.ID != v.Quarantined.ID && v.tellsDowngrade(a) {
			told[a.Downgrade]++
			can++
		}
	}
	for target, voters := range told {
		if 2*voters > can {
			return target
		}
	}
	return ""
}

// tellsDowngrade reports whether a server that has answered can tell of a downgrade: etcd 3.5 does not (StatusResponse in its API). So the last member
// that runs 3.6 tells all alone, until its container is gone.
func (v *view) tellsDowngrade(a Answer) bool {
	from36 := func(v string) bool { return version.Compare(version.Minor(v), "3.6") >= 0 }
	return from36(a.Version) && (v.pods[a.Pod].Restarting || from36(v.Runs(a)))
}
