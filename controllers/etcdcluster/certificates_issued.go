package etcdcluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;create;patch

const (
	// issuance is how long cert-manager may take before it is reported.
	issuance = time.Minute
	// longestWord is how much of a message of cert-manager's is shown: an issuer may have put anything into it.
	longestWord = 300
	// certificateNameAnnotation is in each Secret that cert-manager writes.
	certificateNameAnnotation = "cert-manager.io/certificate-name"
)

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
	if peer && !p.transport.PeerTLS || !peer && !p.transport.ClientTLS {
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
	if resources.CertificateDue(have, want) {
		p.requests = append(p.requests, certificateRequest{have: have, want: want})
	}
	secret := read.get(ctx, name)
	if secret == nil || secret.Annotations[certificateNameAnnotation] != name || len(secret.Data["tls.crt"]) == 0 {
		found.Refused = refusedBy(have, false, r.Clock.Now())
		return found
	}
	// cert-manager takes over a Secret that is there already if it fits: without a revision it has issued nothing, and who may create
	// Secrets could have made the authority.
	if revision, _, _ := unstructured.NestedInt64(have.Object, "status", "revision"); revision < 1 {
		found.Refused = fmt.Sprintf("Secret %s was not issued for Certificate %s: delete the Secret, so that cert-manager issues an authority", name, name)
		return found
	}
	found.Data = secret.Data
	found.Refused = refusedBy(have, true, r.Clock.Now())
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
		found.Refused = "spec.tls.managed.issuerRef: the API server knows no certificates.cert-manager.io: install cert-manager"
	case apierrors.IsForbidden(err):
		found.Refused = fmt.Sprintf("spec.tls.managed.issuerRef: %.300s: grant the operator its role again", err)
	case apierrors.IsNotFound(err):
		p.requests = append(p.requests, certificateRequest{want: want})
	case read.err == nil:
		read.err = fmt.Errorf("read Certificate %s: %w", want.GetName(), err)
	}
	return nil
}

// refusedBy is why cert-manager does not issue, or renew, in its own words; empty while it has not tried, or not for long.
func refusedBy(certificate *unstructured.Unstructured, issued bool, now time.Time) string {
	if c := condition(certificate, "Issuing"); c.status == "False" && c.reason != "" && c.reason != "Issued" {
		return fmt.Sprintf("cert-manager cannot issue Certificate %s: %.*s: correct the issuer, or spec.tls.managed", certificate.GetName(),
			longestWord, c.message)
	}
	if c := condition(certificate, "Ready"); !issued && now.Sub(certificate.GetCreationTimestamp().Time) > issuance {
		return fmt.Sprintf("cert-manager has not issued Certificate %s (%.*s): see whether it runs, whether the issuer of "+
			"spec.tls.managed.issuerRef exists, and kubectl describe certificaterequests", certificate.GetName(), longestWord, c.message)
	}
	return ""
}

type issuedCondition struct{ status, reason, message string }

func condition(of *unstructured.Unstructured, kind string) issuedCondition {
	all, _, _ := unstructured.NestedSlice(of.Object, "status", "conditions")
	for _, one := range all {
		fields, _ := one.(map[string]any)
		if fields["type"] != kind {
			continue
		}
		text := func(key string) string { s, _ := fields[key].(string); return s }
		return issuedCondition{text("status"), text("reason"), text("message")}
	}
	return issuedCondition{message: "it has no condition " + kind}
}

// askForCertificates writes Certificates. That one is refused is reported; whatever was issued before stays in use.
func (r *Reconciler) askForCertificates(ctx context.Context, p *pass) error {
	for _, ask := range p.certified.requests {
		name := ask.want.GetName()
		about := sideWrite{
			plan.Target{Verb: "write", Kind: "Certificate", Name: name}, v1beta2.ReasonIssuerUnavailable,
			fmt.Sprintf("the API server refuses Certificate %s: ", name),
		}
		if err := r.writeBeside(ctx, p, about, func() error { return r.writeCertificate(ctx, p, ask) }); err != nil {
			return fmt.Errorf("write Certificate %s: %w", name, err)
		}
	}
	return nil
}

func (r *Reconciler) writeCertificate(ctx context.Context, p *pass, ask certificateRequest) error {
	if err := r.confirm(ctx, p); err != nil {
		return err
	}
	r.certified.expire(client.ObjectKeyFromObject(p.cluster))
	if ask.have == nil {
		return r.Client.Create(ctx, ask.want, client.FieldOwner(resources.FieldOwner))
	}
	body, err := encodePatch(ask.have.GetUID(), map[string]any{"resourceVersion": ask.have.GetResourceVersion()},
		map[string]any{"spec": ask.want.Object["spec"]})
	if err != nil {
		return err
	}
	return r.Client.Patch(ctx, ask.have.DeepCopy(), client.RawPatch(types.MergePatchType, body), client.FieldOwner(resources.FieldOwner))
}
