package plan

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestDigests wants an image by another digest to restart nobody, and to be on the node before anything else restarts its member.
func TestDigests(t *testing.T) {
	const pinned, newer = "quay.io/coreos/etcd:v3.6.16@sha256:0123", "quay.io/coreos/etcd:v3.7.3@sha256:4567"
	other := func(o *Observed) {
		o.Cluster.Pinned = version.Pinned{pinned, newer}
		for i := range o.Pods {
			o.Pods[i].OtherImage = true
		}
	}
	everywhere := func(image string) Action {
		return PrepullImages{[]NodeImage{{"n0", image}, {"n1", image}, {"n2", image}}}
	}
	recreated := closed(pulledImages(edit(healthyCluster(3, true), other, template(0, 1, 2))))
	check(t, map[string]planCase{
		"alone":                     {edit(healthyCluster(3, true), other), Idle{Reason: v1beta2.ReasonSpecReached}},
		"of two alone":              {edit(healthyCluster(2, false), other), Idle{Reason: v1beta2.ReasonSpecReached}},
		"with another template":     {edit(healthyCluster(3, true), other, template(0, 1, 2)), everywhere(pinned)},
		"pulled":                    {unserved(recreated, 1), Recreate{Name: "c-1", UID: "p1", Version: "3.6.16"}},
		"with another version":      {edit(healthyCluster(3, true), other, to("3.7.3")), everywhere(newer)},
		"where there is no digest":  {edit(healthyCluster(3, true), other, to("3.6.17")), everywhere("quay.io/coreos/etcd:v3.6.17")},
		"one that cannot be pulled": {edit(recreated, unpullable), Wait{Reason: v1beta2.ReasonUpdateStopped}},
	})
}

func unpullable(o *Observed) { o.PrepullPods[1].Done, o.PrepullPods[1].Problem = false, "not found" }
