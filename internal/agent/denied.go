package agent

import (
	"cmp"
	"fmt"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// denied adds what to do if etcd's authentication was the reason of a failure.
func (r *runner) denied(err error) error {
	f := explain(err)
	if f.Reason != v1beta2.ReasonEtcdAccessDenied {
		return err
	}
	return failure.New(failure.Problem{Reason: f.Reason, Terminal: f.Terminal, Message: r.toBeRoot(err) + ". " + f.Message})
}

// toBeRoot says how to be who may take a snapshot. In an EtcdCluster that serves clients without TLS the operator cannot have a user; in
// one with TLS it is who its certificate names.
func (r *runner) toBeRoot(err error) string {
	switch c := r.Backup.Cluster; {
	case r.Backup.Login != nil:
		return r.toLogIn(err)
	case c.Name != "" && r.Backup.TLS:
		return fmt.Sprintf("authentication is enabled in EtcdCluster %s, and the certificate that the operator has for it names no user with "+
			"the role root: put one with the common name root into the Secret in spec.tls.static.operatorSecret", nameOf(c))
	case c.Name != "" && r.Writer.Kind != task.KindBackup:
		return fmt.Sprintf(nobody, nameOf(c))
	case c.Name != "":
		return fmt.Sprintf(nobody, nameOf(c)) + "; or back it up by spec.etcdEndpoints, with the password of a user with the role root in " +
			"spec.passwordSecretRef: such a snapshot names no EtcdCluster, and cannot be restored into one without TLS for clients"
	case r.Backup.TLS:
		return "correct the certificate in the Secret that spec.clientTLSSecret names: its common name is the etcd user, which needs the " +
			"role root; or set spec.passwordSecretRef to the password of such a user"
	}
	return "etcd's authentication is enabled: set spec.passwordSecretRef to the password of a user with the role root, or spec.clientTLSSecret " +
		"to the client certificate of one"
}

const nobody = "authentication is enabled in EtcdCluster %s, where the operator has no user: disable it (etcdctl auth disable) to have a " +
	"snapshot taken"

// toLogIn says what is wrong with the password, or with the user that it is of, in words that are not from the Secret.
func (r *runner) toLogIn(err error) string {
	ref := r.Backup.Login
	user := fmt.Sprintf("user root (Secret %q has no key %s)", ref.Name, task.KeyUsername)
	if r.login.named {
		user = fmt.Sprintf("user that the key %s of Secret %q names", task.KeyUsername, ref.Name)
	}
	if !etcdclient.LoginRefused(err) {
		return fmt.Sprintf("spec.passwordSecretRef: the etcd %s needs the role root: grant it, or name the Secret of a user that has it", user)
	}
	advice := fmt.Sprintf("spec.passwordSecretRef: etcd does not accept what the key %s of that Secret holds as the password of the %s: "+
		"correct the Secret", cmp.Or(ref.Key, task.KeyPassword), user)
	if both := r.login.user + r.login.password; strings.ContainsAny(both, "\r\n") {
		advice += ", where a line break counts as a part of the password or the user's name"
	}
	return advice
}
