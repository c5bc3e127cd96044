package resources

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Revision distinguishes the pods of one spec from those of another. It is the same for every member and etcd version, and for every
// version of the operator: a new operator does not make members outdated.
type Revision struct {
	// Metadata are the labels and annotations that the spec asks for, as JSON.
	Metadata string
	// Resources and Template are hashes: of the etcd container's resources, and of all the rest.
	Resources string
	Template  string
	// SpecResources is the hash of the resources by the spec, which Resources is, too, unless Tuned: Auto Pilot has chosen them.
	SpecResources string
	Tuned         bool
	// Amounts are what the etcd container requests, and is limited to.
	Amounts plan.Requirements
}

// metadata is Revision.Metadata decoded.
type metadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// RevisionOf is the revision of a cluster's spec. Which authorities a pod trusts is no part of it: that changes without the spec.
func RevisionOf(c *v1beta2.EtcdCluster, o PodOptions) (Revision, error) {
	pod, err := basePod(c, "", 0, PodOptions{OpenShift: o.OpenShift, Transport: o.Transport})
	if err != nil {
		return Revision{}, err
	}
	labels := without(pod.Labels, memberLabels(c.Name, "", 0))
	r := Revision{
		Metadata:  encode(metadata{Labels: labels, Annotations: pod.Annotations}),
		Resources: hash(pod.Spec.Containers[0].Resources), SpecResources: hash(podPolicy(c).Resources), Tuned: resourcesTuned(c),
		Amounts: requirementsOf(pod.Spec.Containers[0].Resources),
	}
	pod.Spec.Containers[0].Image, pod.Spec.Containers[0].Resources = "", corev1.ResourceRequirements{}
	// The installer comes first: its image is the operator's, and its resources are the etcd container's.
	pod.Spec.InitContainers[0].Image, pod.Spec.InitContainers[0].Resources = "", corev1.ResourceRequirements{}
	r.Template = hash(pod.Spec)
	return r, nil
}

func encode(plain any) string {
	text, err := json.Marshal(plain)
	if err != nil {
		panic(err) // plain API types
	}
	return string(text)
}

func hash(plain any) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(encode(plain)))
	return rand.SafeEncodeString(fmt.Sprint(h.Sum64()))
}

func (r Revision) annotations() map[string]string {
	return map[string]string{
		AnnotationMetadata: r.Metadata, AnnotationResources: r.Resources, AnnotationTemplate: r.Template,
	}
}

// Drift says how a pod differs from this revision, or was changed by hand. A digest in its image is no difference: with the operator's
// own upgrade come other ones.
func (r Revision) Drift(pod *corev1.Pod, repository string) plan.Drift {
	given := pod.Annotations
	image := ImageOf(pod)
	asked, lacks := given[AnnotationMetadata] == r.Metadata, r.LacksMetadata(pod) != ""
	d := plan.Drift{
		Metadata:  !asked || lacks,
		Rewritten: asked && lacks,
		Resources: given[AnnotationResources] != r.Resources,
		Template:  given[AnnotationTemplate] != r.Template,
		Image:     !version.From(repository, image),
	}
	switch {
	case r.HasSpecResources(pod), r.RefusedResize(pod): // no pod is made anew for what Auto Pilot has chosen
		d.Resources = false
	case given[AnnotationFixed] == r.Resources:
		d = d.Unresizable()
	}
	d.LessMemory = d.Resources && lessMemory(r.Amounts, requirementsOf(EtcdOf(pod).Resources))
	return d
}

// lessMemory reports whether less memory is requested than before, or the container is limited to less. No limit is 0, and what is only limited is
// requested in full, as in Kubernetes.
func lessMemory(now, before plan.Requirements) bool {
	limit, former := now.Limits.Memory, before.Limits.Memory
	return cmp.Or(now.Requests.Memory, limit) < before.Requests.Memory || limit > 0 && (former == 0 || limit < former)
}

// ImageOf is the image that the operator has asked for in a pod, whatever an admission webhook has made of it: that one would replace
// it again. It is the pod's own if that has another tag, which somebody has set by hand; the same tag in another repository cannot be told
// from what a webhook does.
func ImageOf(pod *corev1.Pod) string {
	image, asked := EtcdOf(pod).Image, pod.Annotations[AnnotationImage]
	name, _, _ := strings.Cut(image, "@") // a digest may follow the tag, or stand in its place
	tagged := strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":")
	if v := version.OfImage(name); asked != "" && (!tagged || v == version.OfImage(asked)) {
		return asked
	}
	return image
}

// EtcdOf is a pod's etcd container. It is found by its name: webhooks may have inserted others before it.
func EtcdOf(pod *corev1.Pod) corev1.Container {
	for _, c := range pod.Spec.Containers {
		if c.Name == EtcdContainer {
			return c
		}
	}
	return corev1.Container{}
}

// ownLabels are the operator's labels on a member's pod, apart from those of its life cycle.
func ownLabels(pod *corev1.Pod) map[string]string {
	labels := memberLabels(pod.Labels[LabelCluster], pod.Name, 0)
	delete(labels, LabelIncarnation)
	return labels
}

// LacksMetadata names a label or annotation that the pod does not have as the revision asks, as in `label "team"`; it is empty if the pod
// has them all.
func (r Revision) LacksMetadata(pod *corev1.Pod) string {
	want := decode(r.Metadata)
	for _, of := range []struct {
		kind       string
		have, want map[string]string
	}{{"label", pod.Labels, merge(want.Labels, ownLabels(pod))}, {"annotation", pod.Annotations, want.Annotations}} {
		for _, key := range slices.Sorted(maps.Keys(of.want)) {
			if got, ok := of.have[key]; !ok || got != of.want[key] {
				return fmt.Sprintf("%s %q", of.kind, key)
			}
		}
	}
	return ""
}

func decode(text string) metadata {
	var m metadata
	_ = json.Unmarshal([]byte(text), &m) // invalid JSON was not written here: then no key is known to be ours
	return m
}

func contains(have, want map[string]string) bool {
	for key, value := range want {
		if got, ok := have[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// MetadataPatch is the change of a pod's metadata to this revision's, including the operator's own labels.
func (r Revision) MetadataPatch(pod *corev1.Pod) map[string]any {
	patch := metadataPatch(pod.Annotations, decode(r.Metadata))
	if labels, ok := patch["labels"].(map[string]any); ok {
		for key, value := range ownLabels(pod) {
			labels[key] = value
		}
	}
	return patch
}

// metadataPatch is the change to the wanted labels and annotations; earlier ones, as recorded on the object, are removed if they are no
// longer wanted, and those of others stay.
func metadataPatch(have map[string]string, want metadata) map[string]any {
	old := decode(have[AnnotationMetadata])
	annotations := change(old.Annotations, want.Annotations)
	annotations[AnnotationMetadata] = encode(want)
	return map[string]any{"labels": change(old.Labels, want.Labels), "annotations": annotations}
}

// change is a JSON merge patch: null removes a key.
func change(old, want map[string]string) map[string]any {
	patch := map[string]any{}
	for key := range maps.Keys(old) {
		patch[key] = nil
	}
	for key, value := range want {
		patch[key] = value
	}
	return patch
}
