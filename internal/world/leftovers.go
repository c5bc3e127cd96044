package world

import (
	"slices"
)

// leftovers reports whether there are volumes that nobody needs, or too few, or pods that fetch images. What is another owner's, or
// an earlier cluster's that was not taken up, is left alone.
func (w *World) leftovers() bool {
	volumes := 0
	if w.Persistent {
		volumes = w.Size + w.stranded()
	}
	for i := range w.Volumes {
		if w.Volumes[i].Foreign != "" || !w.Volumes[i].Owned || slices.Contains(w.Status.KeptUIDs, w.Volumes[i].UID) {
			volumes++
		}
	}
	return len(w.Volumes) != volumes || len(w.Pulls) > 0
}
