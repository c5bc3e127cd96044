package etcdcluster

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

const (
	// certificateInterval is how often the Secrets of a cluster are read while nothing is due. They are not watched: that would take the
	// right to list all Secrets.
	certificateInterval = 5 * time.Minute
	// rotationPoll is how often they are read, and members asked what they serve, while certificates are being replaced. A kubelet takes up
	// to two minutes to update the files in a pod.
	rotationPoll = 5 * time.Second
)

// certified is a decision about a cluster's certificates, and what it was made on.
type certified struct {
	certificates.Decision
	// uid is the EtcdCluster's: another one of its name has nothing in common with it.
	uid types.UID
	// secrets are the cluster's own Secrets by name.
	secrets map[string]*outline
	// unread is whether they could not be read since this process has begun.
	unread bool
	// altered are the trust Secrets that are not used.
	altered []certificates.Altered
	// requests are what is to be asked of cert-manager.
	requests []certificateRequest
	// dependsOn is what the decision depends on beside the Secrets. After until, it has to be made anew all the same.
	dependsOn digest
	until     time.Time
	// decided is when it was made, and seen what on.
	decided time.Time
	seen    digest
}

// certifications are the latest decisions about clusters' certificates, so that Secrets need not be read in every pass. The zero value
// is ready to use.
type certifications struct {
	mu     sync.Mutex
	latest map[types.NamespacedName]*certified
}

// of is the latest decision about a cluster, nil if there is none. One about a former cluster of its name does not count: its authorities
// are not this one's, and its keys may be why it was replaced.
func (c *certifications) of(cluster *v1beta2.EtcdCluster) *certified {
	c.mu.Lock()
	defer c.mu.Unlock()
	if latest := c.latest[client.ObjectKeyFromObject(cluster)]; latest != nil && latest.uid == cluster.UID {
		return latest
	}
	return nil
}

func (c *certifications) keep(cluster types.NamespacedName, decided *certified) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest == nil {
		c.latest = map[types.NamespacedName]*certified{}
	}
	c.latest[cluster] = decided
}

// expire has the Secrets of a cluster read again.
func (c *certifications) expire(cluster types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.latest[cluster]; known != nil {
		known.until = time.Time{}
	}
}

func (c *certifications) forget(cluster types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.latest, cluster)
}

// observeCertificates decides what is to become of the cluster's certificates; nothing without TLS. A recent decision stands while
// what it depends on is the same.
func (r *Reconciler) observeCertificates(ctx context.Context, p *pass) error {
	key := p.key()
	if p.observeSides(); !p.sides.SecuresAny() {
		r.certified.forget(key) // nobody serves TLS any more
		return nil
	}
	if err := r.observeUsers(ctx, p); err != nil {
		return err
	}
	p.certified = r.certified.of(p.cluster)
	if p.certified != nil {
		var err error
		if p.config, err = configOf(p.certified.Operator); err != nil {
			return err
		}
		if p.certified.dependsOn == dependsOn(p) && r.Clock.Now().Before(p.certified.until) {
			return nil
		}
	}
	return r.decideCertificates(ctx, p)
}

// decideCertificates reads the Secrets, and while certificates are being replaced what the members serve, and decides anew.
func (r *Reconciler) decideCertificates(ctx context.Context, p *pass) error {
	seen, secrets, err := r.readCertificates(ctx, p)
	if apierrors.IsForbidden(err) {
		p.certified = unreadable(p.certified, err, r.Clock.Now())
		return nil
	}
	if err != nil {
		return err
	}
	input, err := digestOf(seen)
	if err != nil {
		return err
	}
	if same := p.certified.again(input, dependsOn(p), secrets, p.requests, seen.Now); same != nil {
		p.certified = same
		r.certified.keep(p.key(), same)
		return nil
	}
	if p.certified != nil {
		seen.Operator, seen.Made = p.certified.Operator, p.certified.Authorities
	}
	decision, err := r.decisionOn(ctx, p, seen)
	if err != nil {
		return fmt.Errorf("decide about the certificates: %w", err)
	}
	hold(&decision, seen, p)
	decision.Forget(secrets[certificates.TrustName(p.cluster.Name, decision.TrustHash)] != nil)
	p.reportHeld(&decision, secrets, seen.Now)
	decided := &certified{
		Decision: decision, uid: p.cluster.UID, secrets: secrets, requests: p.requests, dependsOn: dependsOn(p), until: validUntil(decision, seen.Now),
		decided: seen.Now, seen: input, altered: seen.Altered,
	}
	if len(decided.requests) > 0 {
		decided.until = seen.Now
	}
	if p.config, err = configOf(decision.Operator); err != nil {
		return err
	}
	p.certified = decided
	r.certified.keep(p.key(), decided)
	return nil
}

// unreadable is what is known of a cluster's certificates while the operator may not read its Secrets: what was known before, and the
// reason. The members go on, and so does all that takes no other certificate.
func unreadable(before *certified, err error, now time.Time) *certified {
	after := &certified{secrets: map[string]*outline{}, unread: true}
	if before != nil {
		*after = *before
	}
	after.Writes, after.Waiting, after.requests, after.until, after.seen = nil, nil, nil, now.Add(rotationPoll), digest{}
	after.Block(failure.Problem{Reason: v1beta2.ReasonCertificatesInvalid, Message: err.Error() + ": grant the operator its role again"})
	return after
}

// hold changes nothing while a Secret is gone that a pod's authorities are from: its member goes on with those that it has read, and
// what they are is unknown. If the Secret's name says that it held what is decided on now, it is created again.
func hold(d *certificates.Decision, seen certificates.Observed, p *pass) {
	if len(seen.Altered) > 0 {
		return
	}
	for _, pod := range seen.Pods {
		trust := resources.TrustOf(p.pods[pod.Name])
		if pod.Trust != nil || trust == "" {
			continue
		}
		d.Hold(seen)
		d.Step = "creating Secret " + trust + " again"
		if trust != certificates.TrustName(p.cluster.Name, d.TrustHash) {
			d.TrustHash = ""
			d.Block(failure.Problem{Reason: v1beta2.ReasonCertificatesInvalid, Message: fmt.Sprintf("Secret %s, with the authorities that "+
				"pod %s trusts, is gone, so no certificate is changed: create it again as it was, or delete that pod if its data is on a volume",
				trust, pod.Name)})
			return
		}
	}
}

// validUntil is until when a decision stands.
func validUntil(d certificates.Decision, now time.Time) time.Time {
	until := now.Add(certificateInterval)
	switch {
	case len(d.Writes) > 0:
		return now
	case !d.Settled:
		return now.Add(rotationPoll)
	case !d.Next.IsZero() && d.Next.Before(until):
		return d.Next
	}
	return until
}

// dependsOn is everything that a decision depends on beside the Secrets, the time, and what members serve.
func dependsOn(p *pass) digest {
	names := p.memberNames()
	text := fmt.Sprint(p.before.Authorities, p.before.Roots, p.cluster.UID, p.cluster.Generation, p.cluster.Annotations[v1beta2.AnnotationRotate], names)
	text += fmt.Sprintf(" %#v %#v", p.transport, p.sides) // every field, which their text does not tell
	for i := range p.users {
		text += fmt.Sprint(" ", p.users[i].UID, p.users[i].NameInEtcd(), p.users[i].Spec.ClientCertificate.SecretName)
	}
	for _, name := range names {
		if pod := p.pods[name]; pod != nil {
			text += fmt.Sprint(" ", pod.UID, resources.TrustOf(pod))
		}
	}
	return sha256.Sum256([]byte(text))
}

// memberNames are those of everything that is, or is about to be, a member: each needs certificates.
func (p *pass) memberNames() []string {
	var names []string
	for name := range p.pods {
		names = append(names, name)
	}
	for _, m := range p.before.MemberStatuses {
		names = append(names, m.Name)
	}
	if b := p.before.Bootstrap; b != nil {
		names = append(names, b.Members...)
	}
	if create, ok := p.action.(plan.CreatePods); ok {
		for _, pod := range create.Pods {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// clientConfig is by which the operator is a client of the members, nil while it uses no TLS.
func (p *pass) clientConfig() *tls.Config {
	if p.certified == nil || !p.observed.ByTLS() {
		return nil
	}
	return p.config
}

// configOf is by which the operator is a client, nil without a certificate. It is made anew in each pass: it takes several times the memory of
// what it is made of, and a fraction of the time of the handshakes that follow.
func configOf(id *certificates.Identity) (*tls.Config, error) {
	if id == nil {
		return nil, nil //nolint:nilnil // plain text
	}
	config, err := pki.ClientConfig(id.Certificate, id.Key, id.Roots)
	if err != nil {
		return nil, fmt.Errorf("be a client of the members: %w", err)
	}
	return config, nil
}

// certificatesDue reports whether Secrets or Certificates are to be written: that is decided on live reads, like everything that changes anything.
func (p *pass) certificatesDue() bool {
	return p.certified != nil && len(secretsFor(p, time.Time{}))+len(p.certified.requests) > 0 && !p.observed.Cluster.Paused && !p.observed.Cluster.Deleting
}
