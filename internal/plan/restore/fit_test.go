package restore

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	mebi  = int64(1) << 20
	claim = "spec.pod.persistentVolumeClaimSpec.resources.requests.storage"
)

func TestMisfit(t *testing.T) {
	gibi := Database{Size: 1024 * mebi, InUse: 100 * mebi, Room: 2176 * mebi}
	auth := gibi
	auth.Auth = true
	for title, c := range map[string]struct {
		database Database
		members  Members
		reason   string
		says     []string
	}{
		"no limits":       {database: gibi},
		"room for it all": {database: gibi, members: Members{Volume: 2285 * mebi, Quota: 1025 * mebi}},
		"a small volume": {
			database: gibi, members: Members{Volume: 2284 * mebi, Quota: 2048 * mebi}, reason: v1beta2.ReasonVolumeTooSmall,
			says: []string{claim + " of EtcdCluster c is 2284Mi", "a database of 1024Mi takes 2285Mi"},
		},
		"a full quota": {
			database: gibi, members: Members{Quota: gibi.Size}, reason: v1beta2.ReasonQuotaTooSmall,
			says: []string{"quota in EtcdCluster c is 1024Mi", "has 1024Mi, of which 100Mi are in use", "spec.etcd.quotaBackendBytes to more than 1025Mi"},
		},
		"a quota that is as good as full": {
			database: gibi, members: Members{Quota: gibi.Size + writing - 1}, reason: v1beta2.ReasonQuotaTooSmall,
		},
		"both": {
			database: gibi, members: Members{Volume: mebi, Quota: mebi}, reason: v1beta2.ReasonVolumeTooSmall,
			says: []string{claim, "spec.etcd.quotaBackendBytes"},
		},
		"authentication": {
			database: auth, members: Members{Volume: mebi}, reason: v1beta2.ReasonSnapshotNeedsAuth,
			says: []string{"in EtcdCluster c, where clients connect without certificates", "spec.tls.managed", "etcdctl auth disable"},
		},
		"authentication, and the operator is somebody else": {
			database: auth, members: Members{Operator: "operator"}, reason: v1beta2.ReasonSnapshotNeedsAuth,
			says: []string{`in EtcdCluster c, because the certificate in spec.tls.static.operatorSecret has the common name "operator"`},
		},
		"authentication, and the operator is root": {database: auth, members: Members{Operator: "root"}},
	} {
		c.members.Of, c.members.VolumeField = "EtcdCluster c", claim
		got := Misfit(c.database, c.members)
		if (got != nil) != (c.reason != "") || got != nil && got.Reason != c.reason {
			t.Errorf("%s: got %+v, want %q", title, got, c.reason)
			continue
		}
		for _, text := range c.says {
			if !strings.Contains(got.Message, text) {
				t.Errorf("%s: it says %q, and not %q", title, got.Message, text)
			}
		}
	}
}
