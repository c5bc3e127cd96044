package resources

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// reserved is the prefix of the operator's own labels and annotations.
const reserved = "etcd.database.coreos.com/"

// Reserved is the first key of labels or annotations that users may not set, empty if there is none.
func Reserved(labels, annotations map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if key == LabelApp || strings.HasPrefix(key, "etcd_") || strings.HasPrefix(key, reserved) {
			return key
		}
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if strings.HasPrefix(key, reserved) {
			return key
		}
	}
	return ""
}

// CheckTemplate says what is wrong with spec.pod.template, naming the path, or nil.
func CheckTemplate(c *v1beta2.EtcdCluster) error {
	if podPolicy(c).Template == nil {
		return nil
	}
	plain := c.DeepCopy()
	plain.Spec.Pod.Template = nil
	o := PodOptions{Persistent: Persistent(c)}
	if c.Spec.TLS != nil || c.Spec.LegacyTLS != nil {
		o.Transport, o.Trust = member.Transport{PeerTLS: true, ClientTLS: true}, certificates.TrustName(c.Name, "")
	}
	pod, err := basePod(plain, "member", 0, o)
	if err != nil {
		return err
	}
	_, err = applyTemplate(podPolicy(c).Template.Raw, pod)
	return err
}

// applyTemplate applies a user's template to a pod. It refuses to change what the operator relies on.
func applyTemplate(raw []byte, pod *corev1.Pod) (*corev1.Pod, error) {
	template := &corev1.PodTemplateSpec{}
	unknown, err := kjson.UnmarshalStrict(raw, template)
	if err == nil {
		err = errors.Join(unknown...)
	}
	if err == nil {
		err = metadataAllowed(template.ObjectMeta)
	}
	if err != nil {
		return nil, fmt.Errorf("spec.pod.template: %w", err)
	}
	before, err := json.Marshal(corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the pod: %w", err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, raw, corev1.PodTemplateSpec{})
	if err != nil {
		return nil, fmt.Errorf("spec.pod.template: %w", err)
	}
	merged := &corev1.PodTemplateSpec{}
	if err := json.Unmarshal(after, merged); err != nil {
		return nil, fmt.Errorf("spec.pod.template: %w", err)
	}
	out := pod.DeepCopy()
	out.Labels, out.Annotations, out.Spec = merged.Labels, merged.Annotations, merged.Spec
	ourselvesFirst(&out.Spec)
	if path := changed(pod, out); path != "" {
		return nil, fmt.Errorf("spec.pod.template: %s is set by the operator itself: remove it", path)
	}
	return out, nil
}

// metadataAllowed validates the template's metadata.
func metadataAllowed(meta metav1.ObjectMeta) error {
	if !reflect.DeepEqual(meta, metav1.ObjectMeta{Labels: meta.Labels, Annotations: meta.Annotations}) {
		return errors.New("metadata: only labels and annotations can be given")
	}
	if key := Reserved(meta.Labels, meta.Annotations); key != "" {
		return fmt.Errorf("metadata: the key %s is the operator's own: remove it", key)
	}
	return nil
}

// ourselvesFirst keeps the operator's containers before others: kubectl uses the first one by default, and member-run has to be
// installed before anything uses it.
func ourselvesFirst(spec *corev1.PodSpec) {
	first := func(name string) func(a, b corev1.Container) int {
		rank := func(c corev1.Container) int {
			if c.Name == name {
				return 0
			}
			return 1
		}
		return func(a, b corev1.Container) int { return rank(a) - rank(b) }
	}
	slices.SortStableFunc(spec.Containers, first(EtcdContainer))
	slices.SortStableFunc(spec.InitContainers, first(installContainer))
}

// changed is the path of the first field of the operator's that has changed, empty if there is none.
func changed(before, after *corev1.Pod) string {
	for _, key := range slices.Sorted(maps.Keys(before.Labels)) {
		if after.Labels[key] != before.Labels[key] {
			return "metadata.labels[" + key + "]"
		}
	}
	b, a := before.Spec, after.Spec
	switch {
	case a.Hostname != b.Hostname:
		return "spec.hostname"
	case a.Subdomain != b.Subdomain:
		return "spec.subdomain"
	case a.RestartPolicy != b.RestartPolicy:
		return "spec.restartPolicy"
	case a.NodeName != "":
		return "spec.nodeName"
	case a.HostnameOverride != nil:
		return "spec.hostnameOverride"
	case len(a.EphemeralContainers) > 0:
		return "spec.ephemeralContainers"
	case a.Resources != nil:
		return "spec.resources"
	case a.TerminationGracePeriodSeconds == nil || *a.TerminationGracePeriodSeconds < graceSeconds:
		return "spec.terminationGracePeriodSeconds (less than 30)"
	}
	for _, v := range b.Volumes {
		if !has(a.Volumes, v) {
			return "spec.volumes[" + v.Name + "]"
		}
	}
	return cmp.Or(changedFirst("spec.containers", b.Containers, a.Containers),
		changedFirst("spec.initContainers", b.InitContainers, a.InitContainers))
}

// changedFirst compares the operator's container, which is the first one.
func changedFirst(path string, b, a []corev1.Container) string {
	if len(a) == 0 || a[0].Name != b[0].Name {
		return path
	}
	if field := changedContainer(b[0], a[0]); field != "" {
		return path + "[" + b[0].Name + "]." + field
	}
	return ""
}

func changedContainer(b, a corev1.Container) string {
	for _, f := range []struct {
		name          string
		before, after any
	}{
		{"image", b.Image, a.Image},
		{"command", b.Command, a.Command},
		{"args", b.Args, a.Args},
		{"workingDir", b.WorkingDir, a.WorkingDir},
		{"ports", b.Ports, a.Ports},
		{"resources (use spec.pod.resources)", b.Resources, a.Resources},
		{"restartPolicy", b.RestartPolicy, a.RestartPolicy},
		{"terminationMessagePath", b.TerminationMessagePath, a.TerminationMessagePath},
		{"terminationMessagePolicy", b.TerminationMessagePolicy, a.TerminationMessagePolicy},
	} {
		// What was empty comes back from JSON as nil.
		if encode(f.before) != encode(f.after) {
			return f.name
		}
	}
	for _, e := range b.Env {
		if !has(a.Env, e) {
			return "env[" + e.Name + "]"
		}
	}
	for _, e := range a.Env {
		if strings.HasPrefix(e.Name, "ETCD_") {
			return "env[" + e.Name + "] (use spec.etcd)"
		}
	}
	return changedMount(b.VolumeMounts, a.VolumeMounts)
}

func changedMount(b, a []corev1.VolumeMount) string {
	for _, m := range a {
		if !has(b, m) && inside(m.MountPath, b) {
			return "volumeMounts[" + m.MountPath + "]"
		}
	}
	for _, m := range b {
		if !has(a, m) {
			return "volumeMounts[" + m.MountPath + "]"
		}
	}
	return ""
}

func has[T any](list []T, want T) bool {
	return slices.ContainsFunc(list, func(one T) bool { return reflect.DeepEqual(one, want) })
}

// inside reports whether a mount would hide one of the operator's mounts, or be inside it.
func inside(path string, mounts []corev1.VolumeMount) bool {
	path = strings.TrimSuffix(path, "/") + "/"
	all := []string{member.DataMount, member.ProgramDir, member.StateDir, member.PermitDir}
	for _, m := range mounts {
		all = append(all, m.MountPath)
	}
	return slices.ContainsFunc(all, func(ours string) bool {
		return strings.HasPrefix(path, ours+"/") || strings.HasPrefix(ours+"/", path)
	})
}
