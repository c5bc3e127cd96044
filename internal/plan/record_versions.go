package plan

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/version"
)

// versionsOf returns the versions that have run on these volumes, or may run on an emptyDir, the lowest first.
func (o Observed) versionsOf(volumes []string) (all []string) {
	for _, c := range o.Volumes {
		if c.Version != "" && slices.Contains(volumes, c.Name) {
			all = append(all, c.Version)
		}
	}
	for _, p := range o.Pods {
		if p.Version != "" && p.Permit != nil {
			all = append(all, p.Version)
		}
	}
	slices.SortFunc(all, version.Compare)
	return all
}

// lowestVersion returns the lowest version of the voters, empty unless all of them answer and that of each is known.
func lowestVersion(o Observed) string {
	lowest := ""
	for _, m := range o.Etcd.Members {
		i := slices.IndexFunc(o.Etcd.Answers, func(a Answer) bool {
			return a.Pod == m.Name && a.MemberID == m.ID && a.ClusterID == o.Etcd.ClusterID
		})
		runs := ""
		if i >= 0 {
			runs = o.Runs(o.Etcd.Answers[i])
		}
		switch {
		case m.Learner:
		case runs == "":
			return ""
		case lowest == "" || version.Compare(runs, lowest) < 0:
			lowest = runs
		}
	}
	return lowest
}
