package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;patch

// secretsReader reads Secrets from the API server, never through a cache: that would keep every Secret of the Kubernetes cluster in
// memory, and take the right to list them.
type secretsReader struct {
	live client.Reader
	p    *pass
	// own are the cluster's own, by name.
	own map[string]*corev1.Secret
	// altered are the trust Secrets that are not as the operator has written them.
	altered []certificates.Altered
	err     error
}

func newSecretsReader(live client.Reader, p *pass) *secretsReader {
	return &secretsReader{live: live, p: p, own: map[string]*corev1.Secret{}}
}

// get returns the Secret of that name, nil if there is none, or after an error.
func (s *secretsReader) get(ctx context.Context, name string) *corev1.Secret {
	if s.err != nil || name == "" {
		return nil
	}
	secret := &corev1.Secret{}
	err := s.live.Get(ctx, client.ObjectKey{Namespace: s.p.cluster.Namespace, Name: name}, secret)
	if client.IgnoreNotFound(err) != nil {
		s.err = fmt.Errorf("read Secret %s: %w", name, err)
	}
	if err != nil {
		return nil
	}
	return secret
}

// source returns the data of a Secret that the user maintains.
func (s *secretsReader) source(ctx context.Context, name string) certificates.Source {
	source := certificates.Source{Name: name}
	if secret := s.get(ctx, name); secret != nil {
		source.Data = secret.Data
	}
	return source
}

// data returns that of one of the cluster's own that it needs, nil if there is none. One of that name with another owner is a conflict.
func (s *secretsReader) data(ctx context.Context, name string) map[string][]byte {
	return s.dataIf(ctx, true, name)
}

// dataIf is data of one that the cluster may have without needing it: then somebody else's of that name is none of its business.
func (s *secretsReader) dataIf(ctx context.Context, needed bool, name string) map[string][]byte {
	if known := s.own[name]; known != nil {
		return known.Data
	}
	secret := s.get(ctx, name)
	if secret == nil {
		return nil
	}
	if conflict := conflictOf("Secret", secret, s.p.cluster); conflict != nil {
		if !needed {
			return nil
		}
		s.p.observed.Conflicts = append(s.p.observed.Conflicts, *conflict)
		return nil
	}
	s.own[name] = secret
	return secret.Data
}

// applyCertificates writes what was decided: each Secret only if nobody has written to it since it was read. The Secrets that a new
// pod mounts are there before the pod is.
func (r *Reconciler) applyCertificates(ctx context.Context, p *pass) error {
	c := p.observed.Cluster
	if !p.sides.SecuresAny() || c.Paused || c.Deleting || p.assessment.NameTaken != nil || c.ID == 0 && c.Bootstrap == nil {
		return nil
	}
	if p.certified.dependsOn != dependsOn(p) { // new members
		if err := r.decideCertificates(ctx, p); err != nil {
			return err
		}
	}
	if err := r.writeSecrets(ctx, p); err != nil {
		return err
	}
	return r.askForCertificates(ctx, p) // last: it may not work for long, and the members need their Secrets
}

func (r *Reconciler) writeSecrets(ctx context.Context, p *pass) error {
	for _, want := range secretsFor(p, r.Clock.Now()) {
		written := false
		about := sideWrite{writeOf(want.Name), v1beta2.ReasonWriteRefused, fmt.Sprintf("the API server refuses Secret %s: ", want.Name)}
		err := r.writeBeside(ctx, p, about, func() error {
			err := r.writeSecret(ctx, p, want)
			if written = err == nil; errors.Is(err, errGoing) {
				awaitGone(&p.certified.Decision, want.Name)
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("write Secret %s: %w", want.Name, err)
		}
		if !written {
			if p.aside(want) {
				continue
			}
			return nil
		}
		p.certified.secrets[want.Name] = p.outlineOf(want)
		r.refresh(ctx, p, want)
	}
	return nil
}

// withCertificates leaves out of an action the pods that cannot have their certificates yet, and replaces it by a Wait if none is left.
// Status has to name the authorities that a pod is to trust before it is created: should it not be seen afterwards, they count all the
// same, until all members serve certificates that they verify.
func (p *pass) withCertificates() plan.Action {
	create, ok := p.action.(plan.CreatePods)
	secured := func(pod plan.NewPod) bool { return pod.Transport.SecuresAny() }
	if !ok || p.certified == nil || !slices.ContainsFunc(create.Pods, secured) {
		return p.action
	}
	if plain := slices.DeleteFunc(slices.Clone(create.Pods), secured); len(plain) > 0 { // they come first
		return plan.CreatePods{Pods: plain}
	}
	wait := func(why string) plan.Action {
		return plan.Wait{Reason: v1beta2.ReasonRotatingCertificates, Message: why, After: reconcile.NotYet}
	}
	trust := p.trustSecret()
	altered := slices.IndexFunc(p.certified.altered, func(a certificates.Altered) bool { return a.Secret == trust })
	switch {
	case trust == "":
		return wait("recording the cluster's own authorities, which new members are to trust")
	case altered >= 0:
		return wait(fmt.Sprintf("new pods would trust what is in Secret %s, which was altered: %s", trust, p.certified.Problem.Message))
	case !p.ready(trust):
		return wait("Secret " + trust + ", with the authorities that new members trust, does not exist, or is being deleted")
	case p.before.TLS == nil || p.before.TLS.TrustSecret != trust:
		return wait("recording the authorities that new members trust")
	}
	allowed := slices.DeleteFunc(slices.Clone(create.Pods), func(pod plan.NewPod) bool {
		return !p.ready(certificates.MemberName(pod.Name))
	})
	if first := certificates.MemberName(create.Pods[0].Name); len(allowed) == 0 && p.certified.secrets[first] != nil {
		return wait("Secret " + first + " is being deleted")
	}
	if len(allowed) == 0 {
		return wait("no certificate that all members accept can be given yet to " + create.Pods[0].Name)
	}
	return plan.CreatePods{Pods: allowed}
}

// secretsFor are the Secrets to write, whatever others depend on first.
func secretsFor(p *pass, now time.Time) []*corev1.Secret {
	var all []*corev1.Secret
	d, c := p.certified, p.cluster
	for _, w := range d.Writes {
		switch w.Kind {
		case certificates.KindAuthority:
			all = append(all, resources.AuthoritySecret(c, w.Data, d.Rotated))
		case certificates.KindMember:
			all = append(all, resources.MemberSecret(c, w.Member, w.Data))
		case certificates.KindClient:
			all = append(all, noting(w, resources.ClientSecret(c, w.Data), now))
		case certificates.KindAgent:
			all = append(all, resources.AgentSecret(c, w.Data))
		case certificates.KindUser:
			if user := p.userOf(w.Member); user != nil {
				all = append(all, noting(w, resources.UserSecret(c, user, w.Data), now))
			}
		}
	}
	if d.Trust != nil && d.secrets[certificates.TrustName(c.Name, d.TrustHash)] == nil {
		all = append(all, resources.TrustSecret(c, d.TrustHash, d.Trust))
	}
	return p.writable(all)
}
