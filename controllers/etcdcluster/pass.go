package etcdcluster

import (
	"crypto/tls"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// pass is what one reconciliation has read and decided.
type pass struct {
	cluster *v1beta2.EtcdCluster
	// before is the status as it was read.
	before *v1beta2.EtcdClusterStatus
	// declined is why this operator does not act on the cluster; nil if it does. Otherwise nothing but the object is known.
	declined claim.Decision
	// begun is when the pass began to read.
	begun time.Time
	// live is true if it was read from the API server.
	live     bool
	observed plan.Observed
	action   plan.Action
	// assessment is what the action was decided by.
	assessment plan.Assessment
	services   map[string]*corev1.Service
	policy     policy
	pods       map[string]*corev1.Pod
	claims     map[string]*corev1.PersistentVolumeClaim
	// revision is the revision of the spec.
	revision resources.Revision
	// previousSpec is the cluster with the spec before an update in progress, nil if there is none.
	previousSpec *v1beta2.EtcdCluster
	// restore is the EtcdRestore to carry out, or that the cluster is to start from; nil if there is none.
	restore *v1beta2.EtcdRestore
	// rejected says what the API server rejects of what the members do not depend on; nil if nothing.
	rejected *failure.Problem
	// outcome is what has come of the action's writes. deed is what the pass has tried to change, nil for nothing.
	outcome outcome
	deed    *reconcile.Deed
	// done is true once the action has taken effect, whether status is written or not.
	done bool
	// transport is that of the members, or of those to come. sides are those for which there are certificates: what members are to serve with
	// TLS, what they serve still, and what the spec asks for. certified is what was decided about them, nil without any.
	transport, sides member.Transport
	certified        *certified
	// config is by which the operator is a client of the members, nil if it has no certificate.
	config *tls.Config
	// auth is what is decided about etcd's authentication, nil if spec.auth never asked for any.
	auth *authPass
	// users are the EtcdUsers that get a certificate.
	users []v1beta2.EtcdUser
	// reminder is when a kubelet may have to be told of a permit again, 0 if none.
	reminder time.Duration
	// comparesAgain is when the voters' data may have to be compared again, 0 if nothing is to be confirmed.
	comparesAgain time.Duration
	// compared is when their data was last found to be the same, zero if this process has not found that.
	compared time.Time
	// habits is what is known of how the members usually are, nil if Auto Pilot does not look at that.
	habits *anomaly.Report
	// requests are what is to be asked of cert-manager, as the last reading found it.
	requests []certificateRequest
	// session reaches the members that answered.
	session *etcd.Session
}

// key is the namespace and name of the cluster.
func (p *pass) key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.cluster.Namespace, Name: p.cluster.Name}
}

// Mutates reports whether the decision changes anything.
func (p *pass) Mutates() bool {
	if p.declined != nil {
		return claim.Mutates(p.declined)
	}
	return plan.Mutates(p.action) || p.certificatesDue() || p.authDue()
}

// Deed names what the decision changes. Certificates and authentication are changed beside the action, and named where that changes nothing.
func (p *pass) Deed() reconcile.Deed {
	switch {
	case plan.Mutates(p.action):
		d := plan.DescribeIn(p.observed, p.assessment, p.action)
		return reconcile.Deed{Action: d.Action, Reason: d.Reason, Feature: p.assessment.Feature}
	case p.certificatesDue():
		return reconcile.Deed{Action: "Certify", Reason: v1beta2.ReasonRotatingCertificates}
	}
	return reconcile.Deed{Action: "Authenticate", Reason: v1beta2.ReasonSwitchingAuthentication}
}
