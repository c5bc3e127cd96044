package plan

import (
	"fmt"
	"slices"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// legacyMembers leaves pods and volumes of coreos/etcd-operator alone: they have the same labels and owner as this operator's.
// It does not touch the client Service either, whose new selector would match none of their pods. A cluster that this operator
// has started has none of these: its bootstrap record was committed when none existed.
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
		Message: fmt.Sprintf("%s were created by coreos/etcd-operator: they continue to run unchanged, and "+
			"nothing is started next to them. Do not delete this EtcdCluster: that would delete them. Save their data "+
			`first (etcdctl snapshot save; from etcd 3.5 on an EtcdBackup with spec.etcdEndpoints), then follow %s`, strings.Join(found, " and "),
			version.Document("docs/migrate.md#from-coreosetcd-operator")),
	}
}

// legacyObjects lists the pods and volumes that coreos/etcd-operator created.
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
