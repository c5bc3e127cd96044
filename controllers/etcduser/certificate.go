package etcduser

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// observeCertificate says what is wrong with the user's certificate, which is issued with those of the cluster. The user does not wait
// for it.
func (r *Reconciler) observeCertificate(ctx context.Context, p *pass) error {
	given, c := p.object.Spec.ClientCertificate, p.target.Cluster
	if given == nil || given.SecretName == "" {
		return nil
	}
	field := "spec.clientCertificate.secretName: "
	if c.Spec.ManagedTLS() == nil {
		p.Flaw = &failure.Problem{Reason: v1beta2.ReasonCertificateNotIssued, Message: fmt.Sprintf(
			"%sEtcdCluster %s does not have spec.tls.managed, so the operator issues no certificate: leave it out, and bring one", field, c.Name)}
		return nil
	}
	if certificates.Reserved(c.Name, given.SecretName) {
		p.Flaw = &failure.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
			"%sSecret %s is one of EtcdCluster %s, now or when it has more members, or an authority's: give another name", field, given.SecretName, c.Name)}
		return nil
	}
	secret := &corev1.Secret{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: given.SecretName}, secret)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read Secret %s: %w", given.SecretName, err)
	case err == nil && !secret.DeletionTimestamp.IsZero():
		p.Flaw = &failure.Problem{Reason: v1beta2.ReasonWaitingForCertificate, Message: fmt.Sprintf(
			"%swaiting until Secret %s, which is being deleted, no longer exists", field, given.SecretName)}
	case err == nil && !metav1.IsControlledBy(secret, p.object):
		p.Flaw = &failure.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
			"%sSecret %s is not this EtcdUser's, and is not changed: delete it, or give another name", field, given.SecretName)}
	case err == nil && secret.Immutable != nil && *secret.Immutable:
		p.Flaw = &failure.Problem{Reason: v1beta2.ReasonWriteRefused, Message: fmt.Sprintf(
			"%sSecret %s is immutable, so its certificate cannot be renewed: delete it, and it is created again", field, given.SecretName)}
	case err != nil || len(secret.Data[certificates.KeyCertificate]) == 0:
		p.Flaw = &failure.Problem{Reason: v1beta2.ReasonWaitingForCertificate, Message: fmt.Sprintf(
			"%sSecret %s has no certificate yet: see the conditions of EtcdCluster %s", field, given.SecretName, c.Name)}
	}
	return nil
}
