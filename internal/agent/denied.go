package agent

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// denied adds what to do if etcd's authentication was the reason of a failure. In an EtcdCluster that serves clients without TLS the
// operator cannot have a user; in one with TLS it is who its certificate names.
func (r *runner) denied(err error) error {
	f := explain(err)
	if f.Reason != v1beta2.ReasonEtcdAccessDenied {
		return err
	}
	advice := "correct the certificate in the Secret that spec.clientTLSSecret names: its common name is the etcd user, which needs the role root"
	switch c := r.Backup.Cluster; {
	case c.Name != "" && r.Backup.TLS:
		advice = fmt.Sprintf("authentication is enabled in EtcdCluster %s, and the certificate that the operator has for it names no user with "+
			"the role root: put one with the common name root into the Secret in spec.tls.static.operatorSecret", nameOf(c))
	case c.Name != "":
		advice = fmt.Sprintf("authentication is enabled in EtcdCluster %s, where the operator has no user: disable it"+
			" (etcdctl auth disable) to have a snapshot taken", nameOf(c))
		if r.Writer.Kind == "EtcdBackup" {
			advice += "; an etcd that serves clients over TLS can be backed up with authentication, by spec.etcdEndpoints and spec.clientTLSSecret," +
				" the client certificate of a user with the role root"
		}
	case !r.Backup.TLS:
		advice = "etcd's authentication is enabled: set spec.clientTLSSecret to the client certificate of a user with the role root"
	}
	return failure.New(failure.Problem{Reason: f.Reason, Terminal: f.Terminal, Message: advice + ". " + f.Message})
}
