package agent

import (
	"cmp"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"go.etcd.io/etcd/client/pkg/v3/transport"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/authentication"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// etcd is how to reach the members, and who to be there.
func (r *runner) etcd() (etcdclient.Config, error) {
	c := etcdclient.Reach(nil, r.Backup.Endpoints...)
	if r.Backup.TLS {
		if err := r.certify(&c); err != nil {
			return c, err
		}
	}
	if r.Backup.Login == nil {
		return c, nil
	}
	var err error
	r.login, err = r.readLogin()
	c.Username, c.Password = r.login.user, r.login.password
	return c, err
}

func (r *runner) certify(c *etcdclient.Config) error {
	secret, err := readSecret(r.dirs.TLS, v1beta2.ReasonEtcdUnreachable, "the Secret that clientTLSSecret names")
	if err != nil {
		return err
	}
	for _, key := range []string{task.KeyClientCertificate, task.KeyClientKey, task.KeyClientCA} {
		if len(secret[key]) == 0 {
			return tlsError("it has no key " + key)
		}
	}
	file := func(key string) string { return filepath.Join(r.dirs.TLS, key) }
	info := transport.TLSInfo{
		CertFile: file(task.KeyClientCertificate), KeyFile: file(task.KeyClientKey), TrustedCAFile: file(task.KeyClientCA),
	}
	if c.TLS, err = info.ClientConfig(); err != nil {
		return tlsError(err.Error())
	}
	return nil
}

func tlsError(problem string) error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonEtcdUnreachable, Terminal: true, Message: fmt.Sprintf(
		"the Secret that clientTLSSecret names cannot be used: %s; it needs %s, %s and %s, in PEM",
		problem, task.KeyClientCertificate, task.KeyClientKey, task.KeyClientCA)})
}

// login is a user of etcd with a password. Named is true if the Secret names the user.
type login struct {
	user, password string
	named          bool
}

// readLogin reads the Secret that passwordSecretRef names. To etcd's client an empty password is none, and it would be nobody. The kubelet
// mounts only the keys that exist, so a Secret with neither of the two cannot be told from none.
func (r *runner) readLogin() (login, error) {
	ref := r.Backup.Login
	what, key := fmt.Sprintf("the Secret %q that passwordSecretRef names", ref.Name), cmp.Or(ref.Key, task.KeyPassword)
	secret, err := readFiles(r.dirs.Login)
	if err != nil {
		return login{}, err
	}
	if len(secret) == 0 {
		return login{}, failure.New(failure.Problem{Reason: v1beta2.ReasonEtcdAccessDenied, Message: fmt.Sprintf(
			"%s does not exist, or has no key %q: create it, put the password there, or name its key in spec.passwordSecretRef.key", what, key)})
	}
	user, password := string(secret[task.KeyUsername]), string(secret[task.KeyPassword])
	if password == "" {
		return login{}, unusable("%s has no key %q, or nothing in it: put the password there, or name its key in spec.passwordSecretRef.key",
			what, key)
	}
	const noText = "%s has no text in UTF-8 under the key %q, and etcd takes no other: correct the Secret"
	switch {
	case !utf8.ValidString(password):
		return login{}, unusable(noText, what, key)
	case !utf8.ValidString(user):
		return login{}, unusable(noText, what, task.KeyUsername)
	}
	return login{user: cmp.Or(user, authentication.RootUser), password: password, named: user != ""}, nil
}

// unusable says why no retry can log in before a user changes something.
func unusable(format string, args ...any) error {
	return failure.New(failure.Problem{
		Reason: v1beta2.ReasonEtcdAccessDenied, Terminal: true, Message: fmt.Sprintf(format, args...),
	})
}
