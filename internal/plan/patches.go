package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Patch is the patch release that Auto Pilot has chosen of the minor release in the spec. It counts as long as the spec asks for that.
type Patch struct {
	// Version is what members are to run instead of InsteadOf, which is empty once a member is healthy with it, or they went back from one;
	// both are empty if nothing is chosen.
	Version, InsteadOf string
	// Since is when that was decided.
	Since time.Time `json:",omitzero"`
	// Refused is the release that was taken back because no member became healthy with it, empty if none was.
	Refused string
}

// of is what still counts of it, where the newest release is that one of the minor release in the spec, or empty if the spec names none.
func (p Patch) of(newest string) Patch {
	if newest == "" || version.Minor(newest) != version.Minor(p.Version) {
		return Patch{}
	}
	return p
}

// proven forgets the release before once a member is healthy with this one: from then on it stays, whatever becomes of that member. What it has
// written, no other release may be able to read.
func (p Patch) proven(o Observed) Patch {
	for _, a := range o.Etcd.Answers {
		i := slices.IndexFunc(o.Pods, func(pod Pod) bool { return pod.Name == a.Pod && pod.UID == a.PodUID })
		if i >= 0 && o.Pods[i].Ready && a.Version == p.Version && a.ClusterID == o.Cluster.ID && a.Leader != 0 {
			p.InsteadOf = ""
		}
	}
	return p
}

// unproven is what a restore starts with: the release before, as long as no member is healthy with this one.
func (p Patch) unproven() Patch {
	if p.InsteadOf != "" {
		p.Version, p.InsteadOf = p.InsteadOf, ""
	}
	return p
}

const (
	// backupAge is how old the newest verified backup may be when an update begins.
	backupAge = 24 * time.Hour
	// patchLimit is how long the first member may take to become healthy with a release before that is taken back.
	patchLimit = 10 * time.Minute
)

// followPatch has etcd be updated to a newer patch release. It restarts members one after the other, as any update, so it comes last.
func followPatch(v *view) Action { return v.Following }

// retreat has members go back to the release before, if none becomes healthy with the one that Auto Pilot has chosen. It needs no quorum:
// another member may have been lost meanwhile, and the one that was updated can bring the quorum back.
func retreat(v *view) Action { return v.Retreat }

// PatchDue reports whether a newer patch release may be followed. What that takes is looked at only then.
func PatchDue(o Observed) bool {
	c := o.Cluster
	return c.Autopilot.Patches != ModeOff && c.Invalid == nil && c.NewestPatch != c.Tuned.Patch.Refused && o.Etcd.Contact == ContactQuorum &&
		version.Minor(c.NewestPatch) == version.Minor(c.Version) && version.Compare(c.NewestPatch, c.Version) > 0
}

// following updates etcd to the newest patch release while all is calm, once a backup was verified that has the data of the last day: what a
// new release does to it, no other release may be able to read.
func (v *view) following() Action {
	c := v.Cluster
	if refused := c.Tuned.Patch.Refused; refused != "" && refused == c.NewestPatch && c.Autopilot.Patches != ModeOff {
		v.held(FeaturePatches, v1beta2.ReasonPatchRefused, fmt.Sprintf("etcd %s was taken back, because no member became healthy with it: it is not "+
			"tried again in this cluster, unless spec.version names it", refused))
		return nil
	}
	if !PatchDue(v.Observed) || v.RejectedSpec != nil || v.Quarantined.ID != 0 || v.Defragmented.ID != 0 || !v.calm() {
		return nil
	}
	due, window := fmt.Sprintf("an update of etcd from %s to %s is due", c.Version, c.NewestPatch), c.Autopilot.Window
	if why := v.againstFollowing(); why != "" && (!window.Set || window.Open) { // the backup that matters is the one before the window
		v.held(FeaturePatches, v1beta2.ReasonPatchHeld, due+", and held: "+why)
		return nil
	}
	act := CommitTuning{Tuned: c.Tuned, FromVersion: c.Version}
	act.Patch = Patch{Version: c.NewestPatch, InsteadOf: c.Version, Since: v.Now}
	return v.tune(act, FeaturePatches, due, false)
}

// againstFollowing is why no patch release may be followed now, as the rest of a sentence; empty if one may be.
func (v *view) againstFollowing() string {
	backup := v.Cluster.Backup
	switch {
	case len(v.Alarms) > 0:
		return fmt.Sprintf("etcd has raised an alarm (%s)", v.Alarms[0].Kind)
	case backup.Snapshot == "":
		return "no EtcdBackup has a verified snapshot of this cluster: it takes one that is not older than 24 hours"
	case v.Now.Sub(backup.Taken) > backupAge:
		return fmt.Sprintf("the newest verified snapshot of this cluster (%s of EtcdBackup %s) is older than 24 hours", backup.Snapshot, backup.EtcdBackup)
	}
	return ""
}

// retreating takes a patch release back with which no member becomes healthy.
func (v *view) retreating() Action {
	c := v.Cluster
	p, mode := c.Tuned.Patch, c.Autopilot.Patches
	if p.of(c.NewestPatch) == (Patch{}) { // a user has written something else
		return nil
	}
	if mode == ModeOff || p.InsteadOf == "" || p.Version != c.Version || v.Now.Sub(v.atRestSince(p.Since)) < patchLimit {
		return nil
	}
	why := v.failsWith(p.Version)
	switch {
	case why == "":
		return nil
	case mode == ModeAdvise:
		v.held(FeaturePatches, v1beta2.ReasonAutopilotAdvises, fmt.Sprintf("%s: with mode On members would go back to %s", why, p.InsteadOf))
		return nil
	}
	act := CommitTuning{Tuned: c.Tuned, FromVersion: p.Version, Because: why}
	act.Patch = Patch{Version: p.InsteadOf, Since: v.Now, Refused: p.Version}
	return act
}

// atRestSince is since when no voter has become ready or ceased to be, and no earlier than that time. Without a quorum it is not known who
// votes. Replacements that do not start are made again and again, so they do not count.
func (v *view) atRestSince(since time.Time) time.Time {
	for _, p := range v.Pods {
		m, listed := v.members[p.Name]
		if (v.Etcd.Contact != ContactQuorum || listed && !m.Learner) && p.ReadyChanged.After(since) {
			since = p.ReadyChanged
		}
	}
	return since
}

// failsWith says why no member is healthy that is to run that version; empty if one is, if none is known to fail, or if there is nobody left that
// runs another. Of what else may keep a member from being healthy nothing is known while others are not either, unless its pod does not start.
func (v *view) failsWith(target string) (why string) {
	former := false
	for _, p := range v.Pods {
		a, answers := v.answer(v.members[p.Name])
		switch {
		case p.Version != target:
			former = true
		case answers && a.Leader != 0: // whatever becomes of its pod
			return ""
		case p.Deleting || p.Permit == nil: // who knows whether it would
		case why == "" && (v.unstartable(p) || v.othersAreHealthy(p)):
			why = fmt.Sprintf("%s has not become healthy with etcd %s", p.Name, target)
			if problem := p.startProblem(); problem != "" {
				why += " (" + problem + ")"
			}
		}
	}
	if !former {
		return ""
	}
	return why
}

// othersAreHealthy reports whether all voters are but that pod's.
func (v *view) othersAreHealthy(p Pod) bool {
	m, others := v.members[p.Name], len(v.voters)
	if m.ID != 0 && !m.Learner {
		others--
	}
	return v.Etcd.Contact == ContactQuorum && v.healthyVoters(p.Name) == others
}

func (a CommitTuning) describePatch() Description {
	if a.Patch.Refused == a.FromVersion {
		return Description{"CommitTuning", v1beta2.ReasonPatchRefused, fmt.Sprintf("taking etcd %s back, because %s: members go back to %s, one after "+
			"the other", a.FromVersion, a.Because, a.Patch.Version)}
	}
	return Description{"CommitTuning", v1beta2.ReasonFollowingPatch, fmt.Sprintf("updating etcd from %s to %s, the newest patch release that this "+
		"operator is tested with: one member after the other", a.FromVersion, a.Patch.Version)}
}
