package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// protectOnlyCopy keeps a restore from replacing what may be nowhere but on an emptyDir: nobody could keep that. Its EtcdRestore sees to
// it before it asks, and this is for what has changed since: it looks again, and saves once more or fails.
func protectOnlyCopy(v *view) Action {
	s := v.Cluster.Safety
	saved := s.Skipped || s.UnsavedReason == "" && !s.Stale && s.Revision != 0
	if v.Cluster.Restore == "" || v.Cluster.Previous != nil || saved {
		return nil
	}
	var names []string
	for _, p := range v.Pods {
		if !p.Persistent && p.Permit != nil && !p.Deleting && p.Phase != Finished {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, CompareNames)
	return Wait{
		Reason: v1beta2.ReasonSaving, After: pollSlow,
		Message: fmt.Sprintf("%s may have on an emptyDir what is in no safety snapshot: it is not replaced before its EtcdRestore has "+
			"saved it, or says that nobody needs it", list(names)),
	}
}
