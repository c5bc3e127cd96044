package clusterspec

import (
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
	if static, field := c.Spec.StaticTLS(); static != nil {
		return &failure.Problem{
			Reason:  v1beta2.ReasonTLSNotSupported,
			Message: field + " is not supported by this release: remove it to run the cluster without TLS",
		}
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
