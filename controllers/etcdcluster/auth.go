package etcdcluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/authentication"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// authInterval is how often etcd is asked whether its authentication is on, and the Secret with root's password is read, while nothing is
// to be changed: somebody else may have. The question costs an entry in etcd's log.
const authInterval = 5 * time.Minute

// authRetry is how often etcd is asked while it does not say.
const authRetry = 5 * time.Second

// unmanagedInterval is how often it is asked where spec.auth is absent and nobody knows of any: practically once in a process, because
// a restored cluster, which has another ID, may have it.
const unmanagedInterval = 365 * 24 * time.Hour

// authKnown is what was read of a cluster's authentication. It stands until that time, for that cluster ID and that generation.
type authKnown struct {
	clusterID  uint64
	generation int64
	until      time.Time

	// asked is true if etcd has said whether it is enabled; denied is what it says to an operator that it does not take for root.
	asked, enabled bool
	denied         string
	// origin is where root's password is to come from, and problem why it cannot.
	origin  string
	problem *failure.Problem
	// sameAs is an earlier origin by which root got this very password: the Secret has changed since, and the password has not.
	sameAs string
}

// authMemory holds the latest of each cluster. The zero value is ready to use.
type authMemory struct {
	mu     sync.Mutex
	latest map[types.NamespacedName]authKnown
}

func (m *authMemory) of(cluster types.NamespacedName) authKnown {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest[cluster]
}

func (m *authMemory) keep(cluster types.NamespacedName, known authKnown) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.latest == nil {
		m.latest = map[types.NamespacedName]authKnown{}
	}
	m.latest[cluster] = known
}

func (m *authMemory) forget(cluster types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.latest, cluster)
}

// authPass is what a pass knows of, and does about, etcd's authentication.
type authPass struct {
	authentication.Observed
	authentication.Decision
	// done is true once the step has been taken.
	done bool
}

// decideAuth decides about etcd's authentication; not at all if spec.auth does not ask for any, and it is off. What it is decided on is
// read anew when it is old, and in the pass that acts.
func (r *Reconciler) decideAuth(ctx context.Context, p *pass) error {
	wanted, lasts := wantedAuth(p.cluster), authInterval
	unmanaged := wanted == authentication.Unmanaged && p.before.Auth == nil
	if unmanaged && !p.transport.ClientTLS {
		return nil
	}
	if unmanaged {
		lasts = unmanagedInterval
	}
	known, password, err := r.knownAuth(ctx, p, lasts)
	if err != nil {
		return err
	}
	if unmanaged && !known.enabled {
		if known.clusterID != 0 {
			r.authenticated.keep(p.key(), known)
		}
		return nil
	}
	a := p.decideAuthOn(known, password)
	if a.Unread {
		if known, password, err = r.readAuth(ctx, p, lasts); err != nil {
			return err
		}
		a = p.decideAuthOn(known, password)
	}
	if a.Step != authentication.NoStep { // it is decided on what is read then
		known.until = time.Time{}
	}
	if known.clusterID != 0 {
		r.authenticated.keep(p.key(), known)
	}
	p.auth = a
	return nil
}

// decideAuthOn decides on what is known, and on root's password if that was read.
func (p *pass) decideAuthOn(known authKnown, password authentication.Password) *authPass {
	a := &authPass{Observed: authentication.Observed{
		Wanted: wantedAuth(p.cluster), Known: known.asked, Enabled: known.enabled, Denied: known.denied,
		TLS: p.transport.ClientsNeedTLS(), Switching: p.switchingClients(),
		Certified:    p.certified != nil && p.certified.Certified,
		OperatorName: p.operatorName(), ClusterID: p.before.ClusterID,
		Quorum: p.steady(), Whole: p.whole(), Password: known.origin, PasswordProblem: known.problem, Secret: password,
	}}
	if a.Denied == "" {
		a.Denied = p.session.Denied()
	}
	if root := p.before.RootUser; root != nil {
		a.Root = authentication.Root{ClusterID: root.ClusterID, Password: root.RootPassword}
		if known.sameAs != "" && root.RootPassword == known.sameAs {
			a.Root.Password = known.origin
		}
	}
	a.Decision = authentication.Decide(a.Observed)
	return a
}

// knownAuth is what was read a while ago, without the password, or now if that does not stand any more; nothing without a quorum.
func (r *Reconciler) knownAuth(ctx context.Context, p *pass, lasts time.Duration) (
	known authKnown, password authentication.Password, err error,
) {
	if p.observed.Etcd.Contact != plan.ContactQuorum {
		return known, password, nil
	}
	known = r.authenticated.of(p.key())
	if known.clusterID == p.observed.Etcd.ClusterID && known.generation == p.cluster.Generation && r.Clock.Now().Before(known.until) &&
		p.session.Denied() == "" {
		return known, password, nil
	}
	return r.readAuth(ctx, p, lasts)
}

func wantedAuth(c *v1beta2.EtcdCluster) authentication.Wanted {
	switch {
	case c.Spec.Auth == nil:
		return authentication.Unmanaged
	case c.Spec.Auth.Enabled:
		return authentication.On
	}
	return authentication.Off
}

// operatorName is the common name of the operator's client certificate, empty if there is none.
func (p *pass) operatorName() string {
	if config := p.clientConfig(); config != nil && len(config.Certificates) > 0 && config.Certificates[0].Leaf != nil {
		return config.Certificates[0].Leaf.Subject.CommonName
	}
	return ""
}

// steady reports whether etcd's authentication may be changed in this pass: a quorum answers, nothing else is changed, and nothing is in the
// way of that, such as data that is older than it was.
func (p *pass) steady() bool {
	c := p.observed.Cluster
	if _, blocked := p.action.(plan.Blocked); blocked {
		return false
	}
	return p.observed.Etcd.Contact == plan.ContactQuorum && p.before.ClusterID != "" && !plan.Mutates(p.action) && !c.Paused && !c.Deleting
}

// whole reports whether every voter is healthy.
func (p *pass) whole() bool {
	for _, m := range p.observed.Etcd.Members {
		if !m.Learner && !slices.Contains(p.assessment.Healthy, m.Name) {
			return false
		}
	}
	return len(p.observed.Etcd.Members) > 0
}

// authDue reports whether etcd's authentication is to be changed in this pass.
func (p *pass) authDue() bool { return p.auth != nil && p.auth.Step != authentication.NoStep }

// authenticate takes the step that was decided on.
func (r *Reconciler) authenticate(ctx context.Context, p *pass) error {
	if !p.authDue() {
		return nil
	}
	err, password := error(nil), p.auth.Secret.Text()
	r.passwords.Forget(p.key())
	switch p.auth.Step {
	case authentication.Enable:
		err = p.session.EnableAuth(ctx, password)
	case authentication.ChangePassword:
		err = p.session.ChangeRootPassword(ctx, password)
	case authentication.Disable:
		err = p.session.DisableAuth(ctx)
	case authentication.NoStep:
	}
	if errors.Is(err, etcd.ErrNoPassword) && p.auth.Password == authentication.Random {
		err = nil // nobody can log in as root with a password, as asked
	}
	if errors.Is(err, etcd.ErrNoPassword) {
		p.auth.Decision = authentication.Decision{Record: p.auth.Root, Problem: &failure.Problem{
			Reason: v1beta2.ReasonInvalidRootPassword, Message: err.Error() + ", and etcd lets it have none while authentication is on: set " +
				"spec.auth.enabled to false, and to true again, or remove spec.auth.rootPasswordSecretRef",
		}}
		return nil
	}
	if err != nil {
		return err
	}
	p.auth.done, p.auth.Enabled = true, p.auth.Step != authentication.Disable
	return nil
}

// withAuth shows in the place of an idle pass what is done about etcd's authentication, or stands in its way.
func (p *pass) withAuth() plan.Action {
	_, idle := p.action.(plan.Idle)
	switch {
	case !idle || p.auth == nil || p.observed.Cluster.Paused || p.observed.Cluster.Deleting:
		return p.action
	case p.auth.Problem != nil:
		return plan.Blocked{Reason: p.auth.Problem.Reason, Message: p.auth.Problem.Message}
	case p.auth.Doing != "":
		after := authRetry
		if p.authDue() {
			after = reconcile.NotYet
		}
		return plan.Wait{Reason: v1beta2.ReasonSwitchingAuthentication, Message: p.auth.Doing, After: after}
	}
	return p.action
}
