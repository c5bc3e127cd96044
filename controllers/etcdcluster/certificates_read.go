package etcdcluster

import (
	"context"
	"maps"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/authentication"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// readCertificates reads every Secret that a decision depends on.
func (r *Reconciler) readCertificates(ctx context.Context, p *pass) (certificates.Observed, map[string]*outline, error) {
	c, read := p.cluster, newSecretsReader(r.Live, p)
	own, serving := c.Spec.ManagedTLS() != nil, p.sides.ClientTLS
	seen := certificates.Observed{
		Now: r.Clock.Now(), Names: certificates.Names{Cluster: c.Name, Namespace: c.Namespace, Domain: resources.Domain(c)},
		Members: p.memberNames(), Transport: p.sides, Coming: p.coming(), Leaving: p.leaving(), Endpoints: resources.ClientURL(c),
		Authority: read.dataIf(ctx, own, certificates.AuthorityName(c.Name)),
		Client:    read.dataIf(ctx, own && serving, certificates.ClientName(c.Name)),
		Agent:     read.dataIf(ctx, serving, certificates.AgentName(c.Name)),
		Published: map[string]map[string][]byte{}, Rotate: c.Annotations[v1beta2.AnnotationRotate],
		OperatorIsRoot: p.before.Auth != nil && p.before.Auth.Enabled, AuthOff: !resources.Started(c),
		AuthWanted: wantedAuth(c) == authentication.On,
	}
	seen.Authorities, seen.Roots = p.before.Authorities, p.before.Roots
	if ca := read.own[certificates.AuthorityName(c.Name)]; ca != nil {
		seen.Rotated = ca.Annotations[certificates.RotatedAnnotation]
	}
	r.readUsers(ctx, p, read, &seen)
	if p.before.TLS != nil {
		seen.Trust = read.trust(ctx, p.before.TLS.TrustSecret)
	}
	r.readSource(ctx, p, read, &seen)
	for _, name := range seen.Members {
		if data := read.data(ctx, certificates.MemberName(name)); data != nil {
			seen.Published[name] = data
		}
	}
	trusts := map[string]map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(p.pods)) {
		trust := resources.TrustOf(p.pods[name])
		if _, known := trusts[trust]; !known {
			trusts[trust] = read.trust(ctx, trust)
		}
		seen.Pods = append(seen.Pods, certificates.Pod{Name: name, Trust: trusts[trust]})
	}
	seen.Altered = read.altered
	seen.Refreshed, seen.UsersRefreshed = p.refreshed(read.own, seen.Now)
	return seen, p.outlines(read.own), read.err
}

// readSource reads where the certificates come from.
func (r *Reconciler) readSource(ctx context.Context, p *pass, read *secretsReader, seen *certificates.Observed) {
	c := p.cluster
	if static, field := c.Spec.StaticTLS(); static != nil && static.Member != nil {
		seen.Static = &certificates.Static{
			Field: field,
			Peer:  read.source(ctx, static.Member.PeerSecret), Server: read.source(ctx, static.Member.ServerSecret),
			Operator: read.source(ctx, static.OperatorSecret),
		}
	} else if m := c.Spec.ManagedTLS(); m != nil {
		seen.Managed = managed(m)
		if m.IssuerRef != nil {
			seen.Managed.Issued = r.readIssued(ctx, p, read)
		}
	}
}

// managed are the user's choices.
func managed(spec *v1beta2.ManagedTLS) *certificates.Managed {
	m := &certificates.Managed{ExtraServerNames: spec.ExtraServerNames}
	if d := spec.LeafDuration; d != nil {
		m.LeafDuration = d.Duration
	}
	if d := spec.CADuration; d != nil {
		m.CADuration = d.Duration
	}
	return m
}
