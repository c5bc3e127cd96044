package etcdbackup

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/status"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// source is the etcd that is backed up.
type source struct {
	endpoints []string
	// tlsSecret is the Secret with the client certificate for them, empty without TLS.
	tlsSecret string
	// login is the password for them, nil without one.
	login   *v1beta2.SecretKeyRef
	cluster task.Cluster
	// ancestors are the clusters that it descends from.
	ancestors []string
	// revision is the highest that it is known to have had.
	revision int64
	// asleep says that its members are stopped on purpose, empty if they are not.
	asleep string
	// doubt is why its data may be wrong, empty if nothing is known of that.
	doubt string
}

// sourceOf finds the members of the cluster to back up. Whether they answer is left to the pod: one that does is enough; one
// without quorum gives a stale snapshot.
func sourceOf(ctx context.Context, reader client.Reader, b *v1beta2.EtcdBackup) (source, *failure.Problem, error) {
	ref := b.Spec.EtcdCluster
	if ref == nil {
		return source{endpoints: b.Spec.EtcdEndpoints, tlsSecret: b.Spec.ClientTLSSecret, login: b.Spec.PasswordSecretRef}, nil, nil
	}
	c := &v1beta2.EtcdCluster{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: ref.Name}, c)
	switch {
	case apierrors.IsNotFound(err):
		return source{}, &failure.Problem{
			Reason: v1beta2.ReasonClusterMissing,
			Message: fmt.Sprintf("spec.etcdCluster: EtcdCluster %s not found in namespace %s: create it, or correct the name",
				ref.Name, b.Namespace),
		}, nil
	case err != nil:
		return source{}, nil, fmt.Errorf("read EtcdCluster %s: %w", ref.Name, err)
	case blockedBy(c, v1beta2.ReasonLegacyMembers):
		return source{}, &failure.Problem{
			Reason: v1beta2.ReasonWaitingForCluster,
			Message: fmt.Sprintf("spec.etcdCluster: the members of EtcdCluster %s were created by coreos/etcd-operator: "+
				"set spec.etcdEndpoints to their client URLs instead", c.Name),
		}, nil
	case status.Asleep(&c.Status):
		return source{asleep: fmt.Sprintf("the members of EtcdCluster %s are stopped (spec.hibernate), or just starting: the next backup is taken once they run",
			c.Name)}, nil, nil
	case c.Status.ClusterID == "" || len(agentpod.MemberURLs(c, agentpod.Voting)) == 0:
		return source{}, &failure.Problem{
			Reason:  v1beta2.ReasonWaitingForCluster,
			Message: fmt.Sprintf("EtcdCluster %s is not up yet: the backup is taken once it is, see its conditions", c.Name),
		}, nil
	}
	return source{
		endpoints: agentpod.MemberURLs(c, agentpod.Voting), tlsSecret: agentpod.TLSSecret(c), cluster: agentpod.SnapshotCluster(c), ancestors: agentpod.Ancestors(c), revision: c.Status.Revision,
		doubt: doubtOf(c),
	}, nil, nil
}

// doubtOf says that the members' data is known to differ, empty if it is not: whoever is right, what was backed up before is not to go.
func doubtOf(c *v1beta2.EtcdCluster) string {
	if q := c.Status.Quarantined; q != nil {
		return fmt.Sprintf("the data of member %s of EtcdCluster %s differs from that of the others", q.Name, c.Name)
	}
	switch d := c.Status.Doubt; {
	case d == nil:
		return ""
	case *d != v1beta2.DataDoubt{}:
		return fmt.Sprintf("the data of EtcdCluster %s's members was found to differ, and it is not known whose is right", c.Name)
	}
	return fmt.Sprintf("etcd says that the data of EtcdCluster %s's members differs (alarm CORRUPT)", c.Name)
}

// blockedBy reports whether the cluster's Progressing condition has that reason.
func blockedBy(c *v1beta2.EtcdCluster, reason string) bool {
	doing := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionProgressing)
	return doing != nil && doing.Reason == reason
}
