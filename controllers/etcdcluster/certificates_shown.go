package etcdcluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// trustSecret names the Secret with the authorities that a new member is to trust. It is the one that was recorded last until the one
// that was decided on exists: what is refused changes nothing.
func (p *pass) trustSecret() string {
	wanted, recorded := certificates.TrustName(p.cluster.Name, p.certified.TrustHash), ""
	if p.before.TLS != nil {
		recorded = p.before.TLS.TrustSecret
	}
	if p.certified.TrustHash == "" || recorded != "" && p.certified.secrets[wanted] == nil {
		return recorded
	}
	return wanted
}

// shownCertificates is what status shows of the certificates, nil without TLS.
func (p *pass) shownCertificates() *status.Certificates {
	if p.certified == nil {
		return nil
	}
	shown := &status.Certificates{Decision: p.certified.Decision, TrustSecret: p.trustSecret(), Recorded: p.authorities(), RecordedRoots: p.roots()}
	_, left := p.certified.secrets[certificates.ClientName(p.cluster.Name)]
	if p.sides.ClientTLS && (p.cluster.Spec.ManagedTLS() != nil || left && p.leaving().ClientTLS) {
		shown.ClientSecret = certificates.ClientName(p.cluster.Name)
	}
	return shown
}

// shownAuth is what status shows of etcd's authentication, nil if spec.auth never asked for any.
func (p *pass) shownAuth() *status.Auth {
	if p.auth == nil {
		return nil
	}
	shown := &status.Auth{Decision: p.auth.Decision, Wanted: p.auth.Wanted, Known: p.auth.Known, Enabled: p.auth.Enabled}
	if !p.auth.done {
		shown.Record = p.auth.Root
	}
	return shown
}

// recordCertificates writes an event whenever the condition about certificates has changed.
func (r *Reconciler) recordCertificates(p *pass) {
	if p.certified == nil {
		return
	}
	now := meta.FindStatusCondition(p.cluster.Status.Conditions, v1beta2.ConditionCertificatesValid)
	before := meta.FindStatusCondition(p.before.Conditions, v1beta2.ConditionCertificatesValid)
	if now == nil || before != nil && before.Reason == now.Reason && before.Message == now.Message {
		return
	}
	kind := corev1.EventTypeNormal
	if now.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	reconcile.Emit(r.Recorder, p.cluster, kind, now.Reason, "Certify", now.Message)
}
