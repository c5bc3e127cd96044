package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Patch is the patch release that Auto Pilot has chosen of the minor release in the spec. It counts as long as the spec asks for that.
type Patch struct {
	// Version is what members are to run instead of InsteadOf, which is empty once a member was healthy with it for long enough, or they went
	// back from one; both are empty if nothing is chosen.
	Version, InsteadOf string
	// Image is the image, by digest, that members ran with InsteadOf, or run again after they went back; empty if its digest is not known.
	Image string `json:",omitempty"`
	// Since is when that was decided.
	Since time.Time `json:",omitzero"`
	// GivenUp is the release that was chosen last and that no member could get; zero if one did.
	GivenUp GivenUpPatch `json:",omitzero"`
	// Trial is how the first member does with it; zero before there is one, and once InsteadOf is empty.
	Trial PatchTrial `json:",omitzero"`
}

// GivenUpPatch is a release that no member could get, and why.
type GivenUpPatch struct{ Version, Because string }

// RefusedPatch is a release that was rolled back in this cluster, or in another one.
type RefusedPatch struct {
	Version string
	// Image is the one that the member had. Another one of that version may work.
	Image string `json:",omitempty"`
	Since time.Time
}

// maxRefusedPatches is how many releases that were rolled back a cluster remembers: the latest ones. Only the newest release is ever followed, so
// older ones matter only to an operator that is rolled back to an earlier version.
const maxRefusedPatches = 16

// stillValid returns p, or the zero value if the spec does not ask for the minor release of p.Version any more, or names a patch release. Newest is
// the newest release of the minor release that the spec names, and empty if it names a patch release.
func (p Patch) stillValid(newest string) Patch {
	if newest == "" || version.Minor(newest) != version.Minor(p.Version) {
		return Patch{}
	}
	return p
}

// unproven is what a restore starts with: the release before, as long as this one is on trial.
func (p Patch) unproven() Patch {
	if p.InsteadOf != "" {
		p.Version, p.InsteadOf, p.Trial = p.InsteadOf, "", PatchTrial{} // GivenUp is of the one before, and empty
	}
	return p
}

// refusing remembers one more release that was rolled back.
func refusing(all []RefusedPatch, one RefusedPatch) []RefusedPatch {
	kept := slices.DeleteFunc(slices.Clone(all), func(r RefusedPatch) bool { return r.Version == one.Version })
	kept = append(kept, one)
	return kept[max(0, len(kept)-maxRefusedPatches):]
}

// stillRefused is what is left of what was rolled back: a release that a user has named since is not refused any more.
func (o Observed) stillRefused(all []RefusedPatch) []RefusedPatch {
	named := func(r RefusedPatch) bool { return r.Version == o.Cluster.Version }
	if o.Cluster.NewestPatch != "" || o.Cluster.Invalid != nil || !slices.ContainsFunc(all, named) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), named)
}

// Refuses reports whether that release was rolled back, and no user has named it since.
func (r Record) Refuses(release string) bool {
	return slices.ContainsFunc(r.RefusedPatches, func(p RefusedPatch) bool { return p.Version == release })
}

const (
	// backupAge is how old the newest verified backup may be when an update begins.
	backupAge = 24 * time.Hour
	// refusedFor is for how long a release is held in all clusters after it was rolled back in one: time for a person to look at that one. More
	// clusters would have to lose a member first to tell more surely whose fault it was, and a release that waits for a day costs nobody any.
	refusedFor = 24 * time.Hour
	// aheadAtMost is how far the clock of another process may be ahead. What is dated later than that was dated by a clock that is wrong, or by
	// somebody who means harm, and would hold a release for as long as that says.
	aheadAtMost = time.Minute
)

// RefusedLately reports whether a release that was rolled back in one cluster at that time, zero for never, is still held in all others.
func RefusedLately(since, now time.Time) bool {
	ago := now.Sub(since)
	return !since.IsZero() && ago < refusedFor && ago >= -aheadAtMost
}

// followPatch has etcd be updated to a newer patch release. It restarts members one after the other, as any update, so it comes last.
func followPatch(v *view) Action { return v.Following }

// PatchDue reports whether a newer patch release may be followed, or was chosen and no member has it yet. What that takes is looked at only then.
func PatchDue(o Observed) bool {
	c := o.Cluster
	if c.Autopilot.Patches == ModeOff || c.Invalid != nil || o.Etcd.Contact != ContactQuorum {
		return false
	}
	return c.Tuned.Patch.InsteadOf != "" && c.Tuned.Patch.Trial.Member == "" || c.behind() && !c.Refuses(c.NewestPatch)
}

// behind reports whether there is a newer release of the minor release in the spec.
func (c Cluster) behind() bool {
	return version.Compare(c.NewestPatch, c.Version) > 0 && version.Minor(c.NewestPatch) == version.Minor(c.Version)
}

// following updates etcd to the newest patch release while all is calm, once a backup was verified that has the data of the last day: what a
// new release does to it, no other release may be able to undo.
func (v *view) following() Action {
	c := v.Cluster
	if v.OnTrial.Version != "" {
		v.tellTrial()
		return nil
	}
	if c.Refuses(c.NewestPatch) && c.Autopilot.Patches != ModeOff && c.behind() {
		v.held(FeaturePatches, v1beta2.ReasonPatchRefused, fmt.Sprintf("etcd %s was rolled back, because the first member with it failed: it is not "+
			"tried again in this cluster, unless spec.version names it", c.NewestPatch))
		return nil
	}
	if !PatchDue(v.Observed) || v.RejectedSpec != nil || v.Quarantined.ID != 0 || v.Defragmented.ID != 0 || !v.calm() {
		return nil
	}
	due, window := dueUpdate(c.Version, c.NewestPatch), c.Autopilot.Window
	why := v.againstRelease()
	if !window.Set || window.Open { // the backup that matters is the one before the window
		why = cmp.Or(why, v.withoutBackup())
	}
	if why != "" {
		v.held(FeaturePatches, v1beta2.ReasonPatchHeld, due+", and held: "+why)
		return nil
	}
	act := CommitTuning{Tuned: c.Tuned, FromVersion: c.Version}
	act.Patch = Patch{Version: c.NewestPatch, InsteadOf: c.Version, Image: v.imageRun(c.Version), Since: v.Now}
	return v.tune(act, FeaturePatches, due, false)
}

func dueUpdate(from, to string) string {
	return fmt.Sprintf("an update of etcd from %s to %s is due", from, to)
}

// imageRun is the image, by digest, that a majority of the voters have of that version; empty if there is none. All members would go back to it, so
// whoever may change a single pod is not believed, and nobody who names a repository that neither the spec nor the operator does.
func (v *view) imageRun(of string) string {
	trusted := []string{version.Repository(v.Cluster.Image(of)), version.Repository(v.Cluster.Image(v.Cluster.NewestPatch))}
	having := map[string]int{}
	for _, m := range v.voters {
		p := v.pods[m.Name]
		if p.Version != of || !slices.Contains(trusted, version.Repository(p.Image)) {
			continue
		}
		if having[p.Image]++; having[p.Image] >= Quorum(len(v.voters)) {
			return p.Image
		}
	}
	return ""
}

// againstFollowing is why no member may get a newer patch release now, as the rest of a sentence; empty if one may.
func (v *view) againstFollowing() string { return cmp.Or(v.againstRelease(), v.withoutBackup()) }

// againstRelease is the same but for what a backup takes.
func (v *view) againstRelease() string {
	elsewhere, last := v.Cluster.RefusedElsewhere, v.Cluster.Tuned.Patch
	switch {
	case len(v.Alarms) > 0:
		return fmt.Sprintf("etcd has raised an alarm (%s)", v.Alarms[0].Kind)
	case v.Quarantined.ID != 0 || v.keepsAll():
		return "the data of a member differs from that of the others, or may"
	case RefusedLately(elsewhere, v.Now):
		return fmt.Sprintf("it was rolled back in another cluster of this operator: it is not tried here before %s, unless spec.version names it",
			elsewhere.Add(refusedFor).UTC().Format(time.RFC3339))
	case last.GivenUp.Version != "" && last.GivenUp.Version == v.Cluster.NewestPatch && RefusedLately(last.Since, v.Now):
		return fmt.Sprintf("no member could get it, because %s: it is not tried again before %s, unless spec.version names it", last.GivenUp.Because,
			last.Since.Add(refusedFor).UTC().Format(time.RFC3339))
	}
	return ""
}

// withoutBackup is why there is no backup to go back to, if a newer patch release harms the data; empty if there is one.
func (v *view) withoutBackup() string {
	switch backup := v.Cluster.Backup; {
	case backup.Snapshot == "":
		return "no EtcdBackup has a verified snapshot of this cluster: it takes one that is not older than 24 hours"
	case v.Now.Sub(backup.Taken) > backupAge:
		return fmt.Sprintf("the newest verified snapshot of this cluster (%s of EtcdBackup %s) is older than 24 hours", backup.Snapshot, backup.EtcdBackup)
	}
	return ""
}

func (a CommitTuning) describePatch() Description {
	if a.Refused.Version != "" {
		return Description{"CommitTuning", v1beta2.ReasonPatchRefused, fmt.Sprintf("taking etcd %s back, because %s: members go back to %s, one after "+
			"the other", a.FromVersion, a.Because, a.Patch.Version)}
	}
	return Description{"CommitTuning", v1beta2.ReasonFollowingPatch, fmt.Sprintf("updating etcd from %s to %s, the newest patch release that this "+
		"operator is tested with: one member first, and the others once it was healthy for ten minutes", a.FromVersion, a.Patch.Version)}
}
