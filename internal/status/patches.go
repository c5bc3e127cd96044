package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// patchOf reads which patch release was chosen, and how the first member does with it.
func patchOf(v *v1beta2.ChosenVersion) plan.Patch {
	if v == nil {
		return plan.Patch{}
	}
	p := plan.Patch{Version: v.Version, InsteadOf: v.InsteadOf, Image: v.Image, Since: v.Since.Time}
	if g := v.GivenUp; g != nil {
		p.GivenUp = plan.GivenUpPatch{Version: g.Version, Because: g.Because}
	}
	if t := v.Trial; t != nil && p.InsteadOf != "" {
		p.Trial = plan.PatchTrial{
			Member: t.Member, PodUID: t.PodUID, Began: t.Began.Time, Healthy: TimeIn(t.HealthySince), WasHealthy: t.WasHealthy, Restarts: int(t.Restarts), Failing: TimeIn(t.FailingSince),
			Corrupt: t.Corrupt,
		}
	}
	return p
}

// chosenVersion is that for people, nil if none is chosen.
func chosenVersion(p plan.Patch) *v1beta2.ChosenVersion {
	if p.Version == "" {
		return nil
	}
	v := &v1beta2.ChosenVersion{Version: p.Version, InsteadOf: p.InsteadOf, Image: p.Image, Since: metav1.NewTime(p.Since)}
	if g := p.GivenUp; g.Version != "" {
		v.GivenUp = &v1beta2.GivenUpVersion{Version: g.Version, Because: g.Because}
	}
	if t := p.Trial; t.Member != "" {
		v.Trial = &v1beta2.PatchTrial{
			Member: t.Member, PodUID: t.PodUID, Began: metav1.NewTime(t.Began), HealthySince: timeOrNil(t.Healthy), WasHealthy: t.WasHealthy,
			Restarts: int32(t.Restarts), FailingSince: timeOrNil(t.Failing), Corrupt: t.Corrupt, //nolint:gosec // the kubelet's own number
		}
	}
	return v
}

// TimeIn is the time that is recorded, zero if none is.
func TimeIn(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func timeOrNil(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

// RefusedPatches reads which patch releases were rolled back.
func RefusedPatches(s *v1beta2.EtcdClusterStatus) (all []plan.RefusedPatch) {
	if s.Autopilot == nil {
		return nil
	}
	for _, r := range s.Autopilot.RefusedVersions {
		all = append(all, plan.RefusedPatch{Version: r.Version, Image: r.Image, Since: r.Since.Time})
	}
	return all
}

// writeRefusedPatches writes that; the rest of what status says of Auto Pilot comes later.
func writeRefusedPatches(s *v1beta2.EtcdClusterStatus, refused []plan.RefusedPatch) {
	if s.Autopilot == nil && len(refused) == 0 {
		return
	}
	if s.Autopilot == nil {
		s.Autopilot = &v1beta2.AutopilotStatus{}
	}
	s.Autopilot.RefusedVersions = nil
	for _, r := range refused {
		s.Autopilot.RefusedVersions = append(s.Autopilot.RefusedVersions, v1beta2.RefusedVersion{
			Version: r.Version, Image: r.Image, Since: metav1.NewTime(r.Since),
		})
	}
}
