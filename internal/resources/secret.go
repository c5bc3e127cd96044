package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// MemberSecret has the certificates and keys of one member, mounted at member.CertificatesDir. It changes when they are renewed.
func MemberSecret(c *v1beta2.EtcdCluster, member string, data map[string][]byte) *corev1.Secret {
	s := secret(c, certificates.MemberName(member), data)
	s.Labels[LabelNode] = member
	return s
}

// TrustSecret has the authorities that members trust, mounted at member.TrustDir. It is immutable: etcd reads them only when it starts,
// so that other authorities are another Secret, and other pods.
func TrustSecret(c *v1beta2.EtcdCluster, hash string, data map[string][]byte) *corev1.Secret {
	yes := true
	s := secret(c, certificates.TrustName(c.Name, hash), data)
	s.Immutable = &yes
	return s
}

// AuthoritySecret has the authorities and their keys; no pod mounts it. Rotated is the value of v1beta2.AnnotationRotate that was carried out last, empty for none.
func AuthoritySecret(c *v1beta2.EtcdCluster, data map[string][]byte, rotated string) *corev1.Secret {
	s := secret(c, certificates.AuthorityName(c.Name), data)
	if rotated != "" {
		s.Annotations = map[string]string{certificates.RotatedAnnotation: rotated}
	}
	return s
}

// ClientSecret is for applications. The API server refuses it without tls.crt and tls.key.
func ClientSecret(c *v1beta2.EtcdCluster, data map[string][]byte) *corev1.Secret {
	s := secret(c, certificates.ClientName(c.Name), data)
	s.Type = corev1.SecretTypeTLS
	return s
}

// UserSecret is for the applications of one user of etcd. It goes with the EtcdUser.
func UserSecret(c *v1beta2.EtcdCluster, user *v1beta2.EtcdUser, data map[string][]byte) *corev1.Secret {
	s := secret(c, user.Spec.ClientCertificate.SecretName, data)
	s.Type = corev1.SecretTypeTLS
	s.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(user, v1beta2.GroupVersion.WithKind("EtcdUser"))}
	return s
}

// AgentSecret is for the pods of backups and restores, which mount it as they do the Secret of spec.clientTLSSecret.
func AgentSecret(c *v1beta2.EtcdCluster, data map[string][]byte) *corev1.Secret {
	return secret(c, certificates.AgentName(c.Name), data)
}

func secret(c *v1beta2.EtcdCluster, name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: objectMeta(c, name), Type: corev1.SecretTypeOpaque, Data: data}
}
