package resources

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// The volumes with a member's certificates, and with the authorities that it trusts.
const (
	certificatesVolume = "member-tls"
	TrustVolume        = "member-trust"
)

// tlsVolumes are none without TLS. The Secrets are mounted whole: the kubelet then replaces all files at once, and a leaf never stands
// beside another one's key. They are not optional: a container waits for its Secrets rather than start without them.
func tlsVolumes(name string, o PodOptions) []corev1.Volume {
	if !o.Transport.SecuresAny() {
		return nil
	}
	volume := func(volume, secret string) corev1.Volume {
		mode := int32(secretMode)
		return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: &mode},
		}}
	}
	return []corev1.Volume{volume(certificatesVolume, certificates.MemberName(name)), volume(TrustVolume, o.Trust)}
}

func tlsMounts(o PodOptions) []corev1.VolumeMount {
	if !o.Transport.SecuresAny() {
		return nil
	}
	return []corev1.VolumeMount{
		{Name: certificatesVolume, MountPath: member.CertificatesDir, ReadOnly: true},
		{Name: TrustVolume, MountPath: member.TrustDir, ReadOnly: true},
	}
}

// TrustOf is the name of the Secret with the authorities that a pod trusts, empty for a pod without TLS.
func TrustOf(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if v.Name == TrustVolume && v.Secret != nil {
			return v.Secret.SecretName
		}
	}
	return ""
}
