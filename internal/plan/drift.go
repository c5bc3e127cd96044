package plan

// Drift says in which respects a pod differs from the one that the spec would give now.
type Drift struct {
	// Metadata are labels and annotations, changed in place.
	Metadata bool
	// Resources are resized in place.
	Resources bool
	// Image is the image's repository: the container is restarted in place.
	Image bool
	// Template is anything else, which takes a new pod.
	Template bool
}

// Any tells whether there is any difference.
func (d Drift) Any() bool { return d != Drift{} }

// Unresizable is the same where Kubernetes refuses to resize the pod: other resources then take a new one.
func (d Drift) Unresizable() Drift {
	d.Resources, d.Template = false, d.Template || d.Resources
	return d
}

// PrepullPod is a pod that does nothing but have an image on a node.
type PrepullPod struct {
	Name  string
	UID   string
	Node  string
	Image string
	// Done is true once the image is there, or nothing more can be learnt from this pod.
	Done bool
	// Problem says why the image does not come, empty if that is not known.
	Problem  string
	Deleting bool
}
