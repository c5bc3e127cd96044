package etcdcluster

import (
	"context"
	"crypto/rand"
	"strconv"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
)

// authPatience is how long a decision waits until etcd has said whether its authentication is on.
const authPatience = 3 * time.Second

// decisionOn asks etcd and the members for what helps: whether etcd's authentication is on, and what members serve.
func (r *Reconciler) decisionOn(ctx context.Context, p *pass, seen certificates.Observed) (certificates.Decision, error) {
	decision, err := certificates.Decide(seen, rand.Reader)
	if err == nil && decision.AskAuth {
		seen.OperatorIsRoot, seen.AuthOff = r.askAuth(ctx, p, decision.Operator)
		decision, err = certificates.Decide(seen, rand.Reader)
	}
	if err != nil || !decision.AskServed {
		return decision, err
	}
	seen.Served = served(ctx, p)
	return certificates.Decide(seen, rand.Reader)
}

// askAuth asks etcd whether its authentication is on, as who the operator is now. Status does not say that of a cluster where somebody
// else has switched it on, of one that was restored, or if the operator was stopped before it wrote that down. Both are false while no
// member that is in contact with a quorum answers.
func (r *Reconciler) askAuth(ctx context.Context, p *pass, operator *certificates.Identity) (on, off bool) {
	ctx, end := context.WithTimeout(ctx, authPatience)
	defer end()
	id, err := strconv.ParseUint(p.before.ClusterID, 16, 64)
	if err != nil {
		return false, false
	}
	config, err := configOf(operator)
	if err != nil {
		return false, false
	}
	if !p.observed.ByTLS() {
		config = nil
	}
	to, err := etcd.Administer(ctx, config, id, endpoints(p.observed))
	if err != nil {
		return false, false
	}
	defer to.Close()
	enabled, err := to.AuthEnabled(ctx)
	if err != nil {
		return false, false
	}
	if enabled { // status is to say so
		r.authenticated.forget(p.key())
	}
	return enabled, !enabled
}
