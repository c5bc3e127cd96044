package plan

import "time"

// Drift describes how a pod differs from the one that the current spec would produce.
type Drift struct {
	// Metadata is true for labels and annotations, which change in place.
	Metadata bool
	// Rewritten is true if they are not those that the pod was given, which the spec still asks for: an admission webhook, for one, has
	// changed them, and would do so again.
	Rewritten bool
	// Resources is true for resources, which are resized in place. LessMemory is true if etcd is to request less memory, or to be limited to less.
	Resources  bool
	LessMemory bool `json:",omitempty"`
	// Image is true for the image's repository, and for its digest if the present image cannot be pulled: the container restarts in place.
	Image bool
	// Template is true for anything else, which takes a new pod.
	Template bool
}

// Any reports whether there is any difference.
func (d Drift) Any() bool { return d != Drift{} }

// made reports whether the pod was made differently from how one would be made now.
func (d Drift) made() bool {
	if d.Rewritten {
		d.Metadata, d.Rewritten = false, false
	}
	return d.Any()
}

// Unresizable returns the drift of a pod that Kubernetes refuses to resize: different resources then take a new pod.
func (d Drift) Unresizable() Drift {
	d.Resources, d.Template = false, d.Template || d.Resources
	return d
}

// PrepullPod is a pod whose only purpose is to have an image pulled to a node.
type PrepullPod struct {
	Name  string
	UID   string
	Node  string
	Image string
	// Created is when the pod was, and so since when the image is being pulled.
	Created time.Time `json:",omitzero"`
	// Done is true once the image is there, or nothing more can be learned from this pod.
	Done bool
	// Problem says why the image cannot be pulled, empty if no reason is known.
	Problem  string
	Deleting bool
}
