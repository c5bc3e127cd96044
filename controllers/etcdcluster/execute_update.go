package etcdcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// +kubebuilder:rbac:groups="",resources=pods/resize,verbs=patch

func (r *Reconciler) setMetadata(ctx context.Context, p *pass, a plan.SetMetadata) error {
	pod := p.pods[a.Name]
	err := r.patch(ctx, pod, types.UID(a.UID), p.revision.MetadataPatch(pod))
	if key := p.revision.LacksMetadata(pod); err == nil && key != "" {
		err = &rewrittenError{key + " does not stay as it was written: an admission webhook or policy changes it back"}
	}
	if err != nil {
		return fmt.Errorf("update the labels and annotations of Pod %s: %w", a.Name, err)
	}
	return nil
}

// resize changes a running pod's resources. If Kubernetes cannot do that, for example because the quality of service class would
// change, it is recorded on the pod, so that the planner recreates it, or leaves it as it is where Auto Pilot has chosen the resources.
func (r *Reconciler) resize(ctx context.Context, p *pass, a plan.Resize) error {
	cluster, hash := p.cluster, p.revision.Resources
	if a.ToSpec {
		cluster, hash = resources.Untuned(p.cluster), p.revision.SpecResources
	}
	wanted, err := resources.Pod(cluster, a.Name, 0, nil, r.podOptions(p))
	if err != nil {
		return err
	}
	pod, note := p.pods[a.Name], resources.AnnotationResources
	body, err := encodePatch(types.UID(a.UID), nil, map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
		"name": resources.EtcdContainer, "resources": resourcesPatch(pod, resources.EtcdOf(wanted).Resources),
	}}}})
	if err != nil {
		return err
	}
	err = r.Client.SubResource("resize").Patch(ctx, pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, body))
	if fixed(err) {
		note, err = resources.AnnotationFixed, nil
	}
	if err != nil {
		return fmt.Errorf("resize Pod %s: %w", a.Name, err)
	}
	meta := map[string]any{"annotations": map[string]any{note: hash}}
	return r.patch(ctx, pod, types.UID(a.UID), meta)
}

// fixed reports whether a running pod can never be given these resources: they are invalid for it, its node is too small for them or
// cannot change them, or Kubernetes resizes nothing. A quota, a limit range or a policy may yet allow them.
func fixed(err error) bool {
	const nodeTooSmall, notOnThisNode = "NodeCapacity", "UnsupportedPlatform"
	return invalid(err) || reconcile.Gone(err) ||
		apierrors.HasStatusCause(err, nodeTooSmall) || apierrors.HasStatusCause(err, notOnThisNode)
}

// resourcesPatch sets what is wanted, and removes everything else.
func resourcesPatch(pod *corev1.Pod, want corev1.ResourceRequirements) map[string]any {
	have := resources.EtcdOf(pod).Resources
	return map[string]any{"requests": listPatch(have.Requests, want.Requests), "limits": listPatch(have.Limits, want.Limits)}
}

func listPatch(have, want corev1.ResourceList) map[string]any {
	patch := map[string]any{}
	for name := range have {
		patch[string(name)] = nil
	}
	for name, quantity := range want {
		patch[string(name)] = quantity.String()
	}
	return patch
}

// changeImage records the container that has to stop before the member counts as updated, and the image that it was made from: an earlier
// change may not have reached it yet. If it has stopped since it was observed the patch is a conflict, and the next pass decides again.
func (r *Reconciler) changeImage(ctx context.Context, p *pass, a plan.ChangeImage, options ...client.PatchOption) error {
	pod, image := p.pods[a.Name], p.observed.Cluster.Image(a.Version)
	before, replaced := resources.EtcdOf(pod).Image, containerOf(pod).ContainerID
	if made := pod.Annotations[resources.AnnotationReplacedImage]; made != "" && pod.Annotations[resources.AnnotationReplaced] == replaced {
		before = made
	}
	body, err := encodePatch(types.UID(a.UID), map[string]any{
		"resourceVersion": pod.ResourceVersion,
		"annotations": map[string]any{
			resources.AnnotationReplaced: replaced, resources.AnnotationReplacedImage: before, resources.AnnotationImage: image,
		},
	}, map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
		"name": resources.EtcdContainer, "image": image,
	}}}})
	if err != nil {
		return err
	}
	patch := client.RawPatch(types.StrategicMergePatchType, body)
	options = append(options, client.FieldOwner(resources.FieldOwner))
	if err := r.Client.Patch(ctx, pod.DeepCopy(), patch, options...); err != nil {
		return fmt.Errorf("update the image of Pod %s: %w", a.Name, err)
	}
	return nil
}

// encodePatch is a patch of the object with exactly that UID.
func encodePatch(uid types.UID, meta, change map[string]any) ([]byte, error) {
	whole := map[string]any{"uid": uid}
	for key, value := range meta {
		whole[key] = value
	}
	patch := map[string]any{"metadata": whole}
	for key, value := range change {
		patch[key] = value
	}
	return json.Marshal(patch)
}

// observePulls reads the image pull pods.
func observePulls(ctx context.Context, reader client.Reader, p *pass) error {
	pods := &corev1.PodList{}
	err := reader.List(ctx, pods, client.InNamespace(p.cluster.Namespace),
		client.MatchingLabels(resources.PullSelector(p.cluster.Name)))
	if err != nil {
		return fmt.Errorf("list the image pull pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if conflictOf(plan.KindPod, pod, p.cluster) != nil {
			continue
		}
		p.observed.PrepullPods = append(p.observed.PrepullPods, plan.PrepullPod{
			Name: pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName, Image: resources.ImageOf(pod), Created: pod.CreationTimestamp.Time,
			Done: pulled(pod), Problem: problemOf(pod), Deleting: pod.DeletionTimestamp != nil,
		})
	}
	return nil
}

// pulled reports whether the image is on the node. It is also true if the pod was rejected by the node: the update continues
// without it.
func pulled(pod *corev1.Pod) bool {
	return phaseOf(pod) == plan.Finished || slices.ContainsFunc(pod.Status.ContainerStatuses,
		func(s corev1.ContainerStatus) bool { return s.ImageID != "" && s.State.Waiting == nil })
}

func (r *Reconciler) pullImage(ctx context.Context, p *pass, e plan.CreatePrepullPod) error {
	if err := r.create(ctx, p, resources.PullPod(p.cluster, e.Node, e.Image, r.podOptions(p))); err != nil {
		return fmt.Errorf("pull image %s to node %s: %w", e.Image, e.Node, err)
	}
	return nil
}

// podOptions are what the operator adds to every pod.
func (r *Reconciler) podOptions(p *pass) resources.PodOptions {
	o := resources.PodOptions{
		OperatorImage: r.OperatorImage, Repository: r.EtcdRepository, Pinned: r.pinned(p.cluster), OpenShift: r.OpenShift, Transport: p.transport,
	}
	if p.certified != nil {
		o.Trust = p.trustSecret()
	}
	return o
}

// optionsFor are the options of one new pod.
func (r *Reconciler) optionsFor(p *pass, n plan.NewPod) resources.PodOptions {
	o := r.podOptions(p)
	o.EtcdVersion, o.Persistent, o.Transport = n.Version, n.Persistent, n.Transport
	o.Avoid = n.Avoid
	return o
}
