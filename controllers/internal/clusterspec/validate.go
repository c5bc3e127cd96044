package clusterspec

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// validate checks what the schema cannot. The message names the field, the reason and the fix.
func validate(c *v1beta2.EtcdCluster) *failure.Problem {
	if err := version.Supported(version.Normalize(c.Spec.Version)); err != nil {
		return &failure.Problem{Reason: v1beta2.ReasonUnsupportedVersion, Message: err.Error()}
	}
	if err := version.CheckRepository(c.Spec.Repository); err != nil {
		return &failure.Problem{Reason: v1beta2.ReasonInvalidRepository, Message: "spec.repository " + err.Error()}
	}
	if problem := cmp.Or(validateAuth(c), validateTLS(c), validateWindow(c)); problem != nil {
		return problem
	}
	if _, problems := resources.Options(c, version.Normalize(c.Spec.Version)); len(problems) > 0 {
		return &failure.Problem{Reason: v1beta2.ReasonInvalidOption, Message: strings.Join(problems, "; ")}
	}
	if problem := validateMetadata(c); problem != nil {
		return problem
	}
	if err := resources.CheckTemplate(c); err != nil {
		return &failure.Problem{Reason: v1beta2.ReasonInvalidPod, Message: err.Error()}
	}
	return validatePod(c.Spec.Pod)
}

// validateTLS refuses an incomplete tls.static. The schema does not: coreos/etcd-operator's accepted it.
func validateTLS(c *v1beta2.EtcdCluster) *failure.Problem {
	static, field := c.Spec.StaticTLS()
	if static == nil {
		return nil
	}
	of := v1beta2.MemberSecret{}
	if static.Member != nil {
		of = *static.Member
	}
	incomplete := ""
	switch {
	case (of.ServerSecret == "") != (static.OperatorSecret == ""):
		incomplete = "give member.serverSecret and operatorSecret together: if clients need certificates, so does the operator"
	case of.PeerSecret == "" && of.ServerSecret == "":
		incomplete = "give member.peerSecret, for TLS between members, or member.serverSecret and operatorSecret, for TLS with clients, or all"
	default:
		return nil
	}
	return &failure.Problem{Reason: v1beta2.ReasonCertificatesInvalid, Message: field + ": " + incomplete}
}

// validateAuth refuses clients without TLS where etcd's authentication is on, or is to be: nobody could be told from anybody else. If it
// is on, the operator would be nobody, too.
func validateAuth(c *v1beta2.EtcdCluster) *failure.Problem {
	wanted := c.Spec.Auth != nil && c.Spec.Auth.Enabled
	on := c.Status.Auth != nil && c.Status.Auth.Enabled
	asked := resources.SpecTransport(&c.Spec)
	if asked.ClientsNeedTLS() || !wanted && !on {
		return nil
	}
	message := "spec.auth.enabled is true, which needs TLS for clients: set spec.tls.managed, or spec.tls.static with member.serverSecret and " +
		"operatorSecret"
	switch {
	case asked.ClientBoth:
		message = "etcd's authentication is on, or is to be, and spec.tls.plaintextClients: Allowed serves clients that have no certificate to be " +
			"known by: remove plaintextClients, or set spec.auth.enabled to false first"
	case on:
		message = "spec.tls asks for clients without TLS, but etcd's authentication is on, which needs it: give spec.tls as it was. If you want " +
			"clients without TLS, set spec.auth.enabled to false first, and change spec.tls once status.auth.enabled is false"
	}
	return &failure.Problem{Reason: v1beta2.ReasonAuthNeedsTLS, Message: message}
}

// validateMetadata refuses labels and annotations that the operator itself relies on.
func validateMetadata(c *v1beta2.EtcdCluster) *failure.Problem {
	var client, peer v1beta2.ServiceMeta
	if s := c.Spec.Services; s != nil && s.Client != nil {
		client = s.Client.ServiceMeta
	}
	if s := c.Spec.Services; s != nil && s.Peer != nil {
		peer = s.Peer.ServiceMeta
	}
	pod := v1beta2.PodPolicy{}
	if c.Spec.Pod != nil {
		pod = *c.Spec.Pod
	}
	for _, given := range []struct {
		field               string
		labels, annotations map[string]string
	}{
		{"spec.pod.labels and annotations", pod.Labels, pod.Annotations},
		{"spec.pod.volumeLabels and volumeAnnotations", pod.VolumeLabels, pod.VolumeAnnotations},
		{"spec.services.client", client.Labels, client.Annotations},
		{"spec.services.peer", peer.Labels, peer.Annotations},
	} {
		if key := resources.Reserved(given.labels, given.annotations); key != "" {
			return &failure.Problem{
				Reason:  v1beta2.ReasonInvalidPod,
				Message: given.field + ": the key " + key + " is the operator's own: remove it",
			}
		}
	}
	return nil
}

func validatePod(pod *v1beta2.PodPolicy) *failure.Problem {
	if pod == nil {
		return nil
	}
	for _, e := range pod.EtcdEnv {
		if e.ValueFrom != nil {
			return &failure.Problem{
				Reason: v1beta2.ReasonInvalidOption,
				Message: "spec.pod.etcdEnv: " + e.Name + " uses valueFrom, which cannot be used here: " +
					"set value, which is written to etcd's configuration file",
			}
		}
	}
	claim := pod.PersistentVolumeClaimSpec
	if claim == nil {
		return nil
	}
	if size := claim.Resources.Requests.Storage(); size.Sign() <= 0 {
		return &failure.Problem{
			Reason: v1beta2.ReasonInvalidPod,
			Message: "spec.pod.persistentVolumeClaimSpec.resources.requests.storage is missing: set the size of each " +
				"member's volume, for example 8Gi",
		}
	}
	if slices.Contains(claim.AccessModes, corev1.ReadWriteMany) {
		return &failure.Problem{
			Reason: v1beta2.ReasonInvalidPod,
			Message: "spec.pod.persistentVolumeClaimSpec.accessModes: ReadWriteMany lets two processes write to one " +
				"member's data: use ReadWriteOnce or ReadWriteOncePod",
		}
	}
	return nil
}
