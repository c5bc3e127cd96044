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
	found, alive := v.legacyObjects()
	if len(found) == 0 {
		return nil
	}
	stay := "they are left as they are"
	if alive {
		stay = "they continue to run unchanged"
	}
	return Blocked{
		Reason: v1beta2.ReasonLegacyMembers,
		Message: fmt.Sprintf("%s were created by coreos/etcd-operator: %s, and "+
			"nothing is started next to them. Do not delete this EtcdCluster: that would delete them. Save their data "+
			`first (etcdctl snapshot save; from etcd 3.4 on an EtcdBackup with spec.etcdEndpoints), then follow %s`, strings.Join(found, " and "), stay,
			version.Document("docs/migrate.md#from-coreosetcd-operator")),
	}
}

// legacyObjects lists the pods and volumes that coreos/etcd-operator created, and says whether a pod among them has not ended.
func (v *view) legacyObjects() (found []string, alive bool) {
	var pods, volumes []string
	for _, p := range v.Pods {
		if p.Legacy {
			pods, alive = append(pods, p.Name), alive || p.Phase != Finished
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
	return found, alive
}
