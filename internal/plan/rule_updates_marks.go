package plan

// correctMark corrects a volume that names another version than its member runs, or another transport than it has, although the member is
// not being updated, because the spec asks for no other, or the API server refuses the update: a pod that is lost later would be created
// with a version that the spec does not ask for, or that the API server refuses. A switch takes no step before the marks are right.
func correctMark(v *view) Action {
	var all []Action
	for _, m := range v.Etcd.Members {
		p, c := v.pods[m.Name], v.volumes[m.Name]
		change := v.change(m)
		stays := change == ChangeNone || change.restartsPod() && v.refused(v.update(m))
		made := c.Transport.Served() != p.Transport.Served()
		if p.Persistent && !p.Deleting && !p.Restarting && v.healthy(m) && stays &&
			v.usable(c) && c.Version != "" && p.Version != "" && (c.Version != p.Version || made) {
			all = append(all, CorrectMark{Name: c.Name, UID: c.UID, Version: p.Version, Made: made})
		}
	}
	return v.firstAllowed(all)
}
