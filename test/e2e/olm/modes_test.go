package olm

import (
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestInstallModes installs the operator for no, one, another and two namespaces, which stands for all: clusters in them
// are reconciled, and those in others are left alone.
func TestInstallModes(t *testing.T) {
	const own, first, second, other = "olm-modes", "olm-modes-first", "olm-modes-second", "olm-modes-other"
	for _, c := range []struct {
		mode            v1alpha1.InstallModeType
		targets         []string
		within, outside []string
	}{
		{v1alpha1.InstallModeTypeAllNamespaces, nil, []string{own, first, other}, nil},
		{v1alpha1.InstallModeTypeOwnNamespace, []string{own}, []string{own}, []string{first}},
		{v1alpha1.InstallModeTypeSingleNamespace, []string{first}, []string{first}, []string{own, second}},
		{v1alpha1.InstallModeTypeMultiNamespace, []string{first, second}, []string{first, second}, []string{own, other}},
	} {
		t.Run(string(c.mode), func(t *testing.T) {
			s := begin(t, "modes")
			for _, namespace := range []string{first, second, other} {
				s.newNamespace(namespace)
			}
			s.catalog("ours", ours)
			s.group(c.targets...)
			s.subscribe(subscribed, "ours", v1alpha1.ApprovalAutomatic)
			s.succeeded(this)
			// Those outside come first: they have been there for as long as it takes to reconcile the others.
			var outside, inside []*cluster
			for _, namespace := range c.outside {
				outside = append(outside, s.clusterIn(namespace, "outside", v1beta2.EtcdClusterSpec{Size: 1}))
			}
			for _, namespace := range c.within {
				inside = append(inside, s.clusterIn(namespace, "inside", v1beta2.EtcdClusterSpec{Size: 1}))
			}
			for _, one := range inside {
				one.settled()
			}
			for _, one := range outside {
				one.leftAlone()
			}
			s.allowed()
		})
	}
}
