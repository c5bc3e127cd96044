package plan

import (
	"fmt"
	"slices"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// legacyMembers leaves alone what coreos/etcd-operator runs: its pods and volumes have the labels and the owner of this
// operator's. Not even the client Service is touched, for it would lead nobody to them any more. A cluster of this
// operator's own is past that: its start was written down when there was nothing of the kind.
func legacyMembers(v *view) Action {
	if v.Cluster.ID != 0 || v.Cluster.Bootstrap != nil {
		return nil
	}
	found := v.legacyObjects()
	if len(found) == 0 {
		return nil
	}
	return Blocked{
		Reason: v1beta2.ReasonLegacyMembers,
		Message: fmt.Sprintf("%s were made by coreos/etcd-operator: they stay as they are, what serves goes on serving, and "+
			"nothing is changed or started beside them. Do not delete this EtcdCluster, for they go with it. Save their data "+
			`first (etcdctl snapshot save; from etcd 3.5 on an EtcdBackup with spec.etcdEndpoints), then go on as `+
			`docs/install.md says under "From coreos/etcd-operator"`, strings.Join(found, " and ")),
	}
}

// legacyObjects names what coreos/etcd-operator has made.
func (v *view) legacyObjects() []string {
	var pods, volumes, found []string
	for _, p := range v.Pods {
		if p.Legacy {
			pods = append(pods, p.Name)
		}
	}
	for _, c := range slices.Concat(v.Volumes, v.foreign) { // this operator's marks, which theirs have not, make a claim its own
		if c.Legacy {
			volumes = append(volumes, c.Name)
		}
	}
	slices.Sort(pods) // there are letters at the end of their names
	slices.Sort(volumes)
	if len(pods) > 0 {
		found = append(found, "pods "+list(pods))
	}
	if len(volumes) > 0 {
		found = append(found, "volumes "+list(volumes))
	}
	return found
}
