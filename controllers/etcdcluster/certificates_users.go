package etcdcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// The certificates of users are issued with those of the cluster: so the rule that keeps everybody connected while authorities are
// replaced holds for them, too.

// observeUsers finds the EtcdUsers that get a certificate. The cache is enough: one that is seen late gets it late.
func (r *Reconciler) observeUsers(ctx context.Context, p *pass) error {
	all := &v1beta2.EtcdUserList{}
	if err := r.Client.List(ctx, all, client.InNamespace(p.cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list EtcdUsers: %w", err)
	}
	var own []v1beta2.EtcdUser
	for i := range all.Items { // of all the cluster's neighbors: only its own are copied
		if u := &all.Items[i]; u.Spec.EtcdCluster.Name == p.cluster.Name {
			own = append(own, *u.DeepCopy())
		}
	}
	p.users = nil
	for i := range own {
		u := &own[i]
		taken := slices.ContainsFunc(own, func(o v1beta2.EtcdUser) bool {
			return o.UID != u.UID && o.NameInEtcd() == u.NameInEtcd() && accounts.Older(&o, u)
		})
		if given := u.Spec.ClientCertificate; given != nil && given.SecretName != "" && !taken && u.DeletionTimestamp.IsZero() {
			p.users = append(p.users, *u)
		}
	}
	slices.SortFunc(p.users, func(a, b v1beta2.EtcdUser) int {
		return cmp.Or(cmp.Compare(a.Spec.ClientCertificate.SecretName, b.Spec.ClientCertificate.SecretName),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	p.users = slices.CompactFunc(p.users, func(a, b v1beta2.EtcdUser) bool {
		return a.Spec.ClientCertificate.SecretName == b.Spec.ClientCertificate.SecretName
	})
	return nil
}

// userOf is the one whose certificate belongs into a Secret, nil if it is gone.
func (p *pass) userOf(secret string) *v1beta2.EtcdUser {
	for i := range p.users {
		if p.users[i].Spec.ClientCertificate.SecretName == secret {
			return &p.users[i]
		}
	}
	return nil
}

// readUsers reads the Secrets of users, and which of them the API server refuses to have written.
func (r *Reconciler) readUsers(ctx context.Context, p *pass, read *secretsReader, seen *certificates.Observed) {
	if p.cluster.Spec.ManagedTLS() == nil && !p.leaving().ClientTLS {
		return
	}
	for i := range p.users {
		read.user(ctx, &p.users[i], seen)
	}
	refused := r.refusedBeside.of(p.key(), p.cluster.Generation, seen.Now)
	for i := range seen.Users {
		u := &seen.Users[i]
		if have := read.own[u.Secret]; have != nil && !have.DeletionTimestamp.IsZero() {
			u.Going, u.Refused = true, fmt.Sprintf("it is being deleted, and these finalizers hold it: %.200s", strings.Join(have.Finalizers, ", "))
			continue // what was refused before does not matter any more
		}
		for _, known := range refused {
			if known.Target == writeOf(u.Secret) {
				u.Refused = known.Message
			}
		}
	}
}

// writeOf is how refusals call the write of a Secret.
func writeOf(secret string) plan.Target {
	return plan.Target{Verb: "write", Kind: "Secret", Name: secret}
}

// user reads the Secret of one. If it is somebody else's, or may become the cluster's, the user gets no certificate, which the EtcdUser says: the cluster does not
// depend on it.
func (s *secretsReader) user(ctx context.Context, u *v1beta2.EtcdUser, seen *certificates.Observed) {
	name := u.Spec.ClientCertificate.SecretName
	if certificates.Reserved(s.p.cluster.Name, name) {
		return
	}
	secret := s.get(ctx, name)
	if secret != nil && !metav1.IsControlledBy(secret, u) {
		return
	}
	one := certificates.User{Name: u.NameInEtcd(), Secret: name, New: seen.Now.Sub(u.CreationTimestamp.Time) < certificates.ReadTime}
	if secret != nil {
		s.own[name], one.Data = secret, secret.Data
	}
	seen.Users = append(seen.Users, one)
}

// noting notes with a Secret for applications when they have to read it again.
func noting(w certificates.Write, secret *corev1.Secret, now time.Time) *corev1.Secret {
	if w.Refresh {
		secret.Annotations = map[string]string{resources.AnnotationRefreshed: now.Format(time.RFC3339Nano)}
	}
	return secret
}

// refreshed is when the Secret of all applications, and when one of an EtcdUser, was last noted to have to be read again; zero if none was. Who
// writes to a user's Secret can note what they like there: what lies far ahead does not count.
func (p *pass) refreshed(secrets map[string]*corev1.Secret, now time.Time) (clients, users time.Time) {
	for name, s := range secrets {
		last := &users
		if name == certificates.ClientName(p.cluster.Name) {
			last = &clients
		}
		at, err := time.Parse(time.RFC3339Nano, s.Annotations[resources.AnnotationRefreshed])
		if s.Type == corev1.SecretTypeTLS && err == nil && at.After(*last) && at.Before(now.Add(certificates.ReadTime)) {
			*last = at
		}
	}
	return clients, users
}

func clusterOfUser(_ context.Context, o client.Object) []ctrl.Request {
	user, ok := o.(*v1beta2.EtcdUser)
	if !ok || user.Spec.ClientCertificate == nil {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: user.Namespace, Name: user.Spec.EtcdCluster.Name}}}
}
