package plan

import "testing"

// TestMarkErased: a pod whose image says no version.
func TestMarkErased(t *testing.T) {
	o := healthyCluster(3, true)
	o.Pods[1].Version = ""
	a, known := Decide(o)
	t.Logf("%T %+v target %q lowest %q change %v", a, a, known.Versions.Target, known.Versions.Lowest, known.Changes)
	o.Cluster.Version = "3.4.1"
	a, known = Decide(o)
	t.Logf("%T %+v target %q lowest %q change %v", a, a, known.Versions.Target, known.Versions.Lowest, known.Changes)
	if act, ok := a.(CorrectMark); ok && act.Version == "" {
		t.Error("the version on the volume is erased")
	}
}
