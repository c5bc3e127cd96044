package plan

import (
	"testing"
	"time"
)

// TestRebootedNode: the kubelet runs the init containers again after a reboot of the node, and reports Pending meanwhile, of a pod as
// old as it may be. Its member is not replaced for that.
func TestRebootedNode(t *testing.T) {
	o := silent(healthyCluster(3, true), 1)
	o.Pods[1].Created, o.Pods[1].WaitsFor = now.Add(-30*24*time.Hour), "a volume is not attached"
	o.Pods[1].Ready, o.Pods[1].ReadyChanged = false, now.Add(-5*time.Second)
	o.Pods[1].Phase, o.Pods[1].InService = Pending, true
	for _, problem := range []string{"", "container etcd: ErrImagePull"} {
		o.Pods[1].StartProblem = problem
		if a := Next(closed(o)); Mutates(a) {
			t.Errorf("of a pod that was Ready 5 s ago: %#v", a)
		}
	}
}

// TestBadSpecOutOfTurn: c-0 does not start with a bad spec, and c-1, whose turn it is not, is lost and refused once. It is not created
// from the bad one.
func TestBadSpecOutOfTurn(t *testing.T) {
	o := withoutPod(silent(healthyCluster(3, true), 0), 1)
	o.Pods[0].StartProblem, o.Pods[0].Ready = "etcd is crash-looping", false
	o.Cluster.AcceptedSpec, o.Cluster.PreviousSpec, o.Cluster.Spec = "b", "a", "b"
	o = noContact(o)
	o.Volumes[1].FromPreviousSpec, o.Volumes[2].FromPreviousSpec = true, true
	refuse(Target{"create from the previous spec", KindPod, "c-1"})(&o)
	if a := Next(o); Mutates(a) {
		t.Errorf("while another member is down with that spec: %#v", a)
	}
}

// TestMarkErased: a pod whose image says no version says nothing of what its member is to run.
func TestMarkErased(t *testing.T) {
	o := healthyCluster(3, true)
	o.Pods[1].Version, o.Cluster.Version = "", "3.4.1"
	if a, ok := Next(o).(CorrectMark); ok {
		t.Errorf("the version on the volume is erased: %#v", a)
	}
}
