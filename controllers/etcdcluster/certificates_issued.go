package etcdcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;create;patch

// certificateNameAnnotation is in each Secret that cert-manager writes.
const certificateNameAnnotation = "cert-manager.io/certificate-name"

// errNotInstalled says that the API server does not know cert-manager's kinds. An operator that has found them before asks for objects of
// theirs all the same, and is told that these do not exist.
var errNotInstalled = errors.New("spec.tls.managed.issuerRef: the API server knows no certificates.cert-manager.io, or no " +
	"certificaterequests.cert-manager.io: install cert-manager")

// certificateRequest is a Certificate of cert-manager's that is to be written; have is nil if there is none.
type certificateRequest struct {
	have, want *unstructured.Unstructured
}

// readIssued reads what cert-manager has issued, and finds out what is to be asked of it. Certificates are not watched, because
// cert-manager may be installed later than the operator, or never.
func (r *Reconciler) readIssued(ctx context.Context, p *pass, read *secretsReader) *certificates.Issued {
	p.requests = nil
	return &certificates.Issued{
		Peer: r.readAuthority(ctx, p, read, true), Server: r.readAuthority(ctx, p, read, false),
	}
}

func (r *Reconciler) readAuthority(ctx context.Context, p *pass, read *secretsReader, peer bool) certificates.IssuedAuthority {
	want := resources.Certificate(p.cluster, peer)
	name := want.GetName()
	found := certificates.IssuedAuthority{Source: certificates.Source{Name: name}}
	if peer && !p.sides.PeerTLS || !peer && !p.sides.ClientTLS {
		return found
	}
	have := r.readCertificate(ctx, p, read, want, &found)
	if have == nil {
		return found
	}
	if conflict := conflictOf("Certificate", have, p.cluster); conflict != nil {
		found.Refused = fmt.Sprintf("Certificate %s belongs to %s: delete it", name, conflict.Owner)
		return found
	}
	contest := ""
	if drift := resources.CertificateDrift(have, want); len(drift) > 0 {
		due := true
		if due, contest = r.rewrites.of(have, want, drift, r.Clock.Now()); due {
			p.requests = append(p.requests, certificateRequest{have: have, want: want})
		}
	}
	secret := read.get(ctx, name)
	// After the Secret, so that there is a request for whatever cert-manager has put into it.
	requests, ok := r.readRequests(ctx, have, want.GetLabels(), read, &found)
	if !ok {
		return found
	}
	issued := secret != nil && secret.Annotations[certificateNameAnnotation] == name && len(secret.Data["tls.crt"]) > 0
	if issued {
		found.Data = secret.Data
	}
	found.Signed = signedBy(requests)
	found.Refused = cmp.Or(refusedBy(have, requests, issued, r.Clock.Now()), contest)
	return found
}

// readCertificate returns what there is of a Certificate that is wanted, nil if there is none; then it is asked for, or found has why not.
func (r *Reconciler) readCertificate(
	ctx context.Context, p *pass, read *secretsReader, want *unstructured.Unstructured, found *certificates.IssuedAuthority,
) *unstructured.Unstructured {
	have := &unstructured.Unstructured{}
	have.SetGroupVersionKind(resources.CertificateKind)
	switch err := r.Live.Get(ctx, client.ObjectKeyFromObject(want), have); {
	case err == nil:
		return have
	case meta.IsNoMatchError(err):
		found.Refused = errNotInstalled.Error()
	case apierrors.IsForbidden(err):
		found.Refused = fmt.Sprintf("spec.tls.managed.issuerRef: %.300s: grant the operator its role again", err)
	case apierrors.IsNotFound(err):
		p.requests = append(p.requests, certificateRequest{want: want})
	case read.err == nil:
		read.err = fmt.Errorf("read Certificate %s: %w", want.GetName(), err)
	}
	return nil
}

// askForCertificates writes Certificates. That one is refused is reported; whatever was issued before stays in use.
func (r *Reconciler) askForCertificates(ctx context.Context, p *pass) error {
	for _, ask := range p.certified.requests {
		name := ask.want.GetName()
		about := sideWrite{
			plan.Target{Verb: "write", Kind: "Certificate", Name: name},
			v1beta2.ReasonIssuerUnavailable,
			fmt.Sprintf("the API server refuses Certificate %s: ", name),
		}
		err := r.writeBeside(ctx, p, about, func() error { return r.writeCertificate(ctx, p, ask) })
		if errors.Is(err, errNotInstalled) {
			p.certified.lackIssuer(err.Error())
			continue
		}
		if err != nil {
			return fmt.Errorf("write Certificate %s: %w", name, err)
		}
	}
	return nil
}

// lackIssuer says why nothing is issued. Whatever was issued before stays in use.
func (c *certified) lackIssuer(why string) {
	c.Settled = false
	if c.Problem == nil {
		c.Problem = &failure.Problem{Reason: v1beta2.ReasonIssuerUnavailable, Message: why}
	}
}

func (r *Reconciler) writeCertificate(ctx context.Context, p *pass, ask certificateRequest) error {
	if err := r.confirm(ctx, p); err != nil {
		return err
	}
	r.certified.expire(p.key())
	if ask.have == nil {
		err := r.Client.Create(ctx, ask.want, client.FieldOwner(resources.FieldOwner))
		if apierrors.IsNotFound(err) {
			return errNotInstalled
		}
		return err
	}
	metadata := map[string]any{"resourceVersion": ask.have.GetResourceVersion(), "labels": ask.want.GetLabels()}
	body, err := encodePatch(ask.have.GetUID(), metadata, map[string]any{"spec": resources.SpecPatch(ask.have, ask.want)})
	if err != nil {
		return err
	}
	err = r.Client.Patch(ctx, ask.have.DeepCopy(), client.RawPatch(types.MergePatchType, body), client.FieldOwner(resources.FieldOwner))
	if err == nil { // else nobody has changed what was never written
		r.rewrites.note(ask.have, ask.want, r.Clock.Now())
	}
	return err
}
