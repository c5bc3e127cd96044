package plan

// correctMark corrects a volume that names another version than its member runs although nothing is being updated: a pod that is lost
// later would be created with a version that the spec does not ask for, or that the API server refuses.
func correctMark(v *view) Action {
	var all []Action
	for _, m := range v.Etcd.Members {
		p, c := v.pods[m.Name], v.volumes[m.Name]
		if p.Persistent && !p.Deleting && !p.Restarting && v.healthy(m) && v.change(m) == ChangeNone &&
			v.usable(c) && c.Version != "" && p.Version != "" && c.Version != p.Version {
			all = append(all, CorrectMark{Name: c.Name, UID: c.UID, Version: p.Version})
		}
	}
	return v.firstAllowed(all)
}
