package stories

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

var webhookFaults = []fault{
	{
		family: "refusal", name: "other-image", title: "a first start and another version where a policy rewrites images, and a pod deleted",
		spec: v1beta2.EtcdClusterSpec{Size: 1}, breaks: (*trial).startsWithOtherImages,
	},
	{
		family: "refusal", name: "other-label", title: "a label whose value a policy changes back, a pod deleted meanwhile, and the policy gone",
		spec: onVolumes(3), breaks: (*trial).keepsOthersLabel,
	},
	{
		family: "refusal", name: "silent-webhook", title: "a pod deleted where a webhook for new pods says nothing, then is away, then is gone",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			before, lost := s.identities(), s.follower()
			webhook, lift := s.silence()
			s.refuses("failed calling webhook", s.tries(anything))
			s.breaking()
			must(s.t, s.KillPod(s.t.Context(), lost.Name))
			s.refused("create Pod " + lost.Name)
			s.serves(s.names(lost.Name)...)
			s.servedAgain(s.leader())
			s.diesInPlace(s.leader())
			s.serves(s.names(lost.Name)...)
			must(s.t, webhook.Close())
			s.refused("create Pod "+lost.Name, "failed calling webhook")
			lift()
			s.askedAgain(lost, s.allows(s.tries(anything)))
			s.accepted()
			s.same(before)
			s.madeAtMost(4, memberPods)
		},
	},
}

// startsWithOtherImages has a cluster start, and asks it for another version, where pods get their images from elsewhere than its spec
// says. The lab has the same images in every registry.
func (s *trial) startsWithOtherImages() {
	const upstream, mirror, next = "quay.io/coreos/", "mirror.example/coreos/", "3.6.16"
	rewrite(s.t, s.Namespace, fmt.Sprintf(`Object{spec: Object.spec{containers: object.spec.containers.map(c,
		Object.spec.containers{name: c.name, image: c.image.replace('%s', '%s')})}}`, upstream, mirror))
	s.allows(s.becomes("the image is not rewritten", func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = upstream + "etcd:v" + next },
		func(pod corev1.Pod) bool { return strings.HasPrefix(pod.Spec.Containers[0].Image, mirror) }))
	s.startsAnew(ofVersion("3.6.15"))
	s.accepted()
	before, first := s.identities(), s.mended
	s.madeAtMost(1+3, memberPods)
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = next })
	s.runsOrSaysWhyNot(next)
	again := s.comesBack(s.follower())
	if image := again.Spec.Containers[0].Image; !strings.HasPrefix(image, mirror) {
		s.t.Errorf("%s has the image %s", again.Name, image)
	}
	s.serves(s.names("")...)
	s.same(before)
	s.madeAtMost(1+3+1, memberPods)
	s.madeAtMost(2*len(nodes.Nodes()), pullPods)
	s.mended = first
}

// runsOrSaysWhyNot waits until all members run a version, or until status says that the API server or the update is in the way of it.
// Then the version is taken back.
func (s *trial) runsOrSaysWhyNot(version string) {
	s.t.Helper()
	before, updated := s.member(s.names("")[0]).Version, false
	must(s.t, harness.Await(s.t.Context(), "all members run "+version+", or status says why not", limit,
		func(ctx context.Context) (string, bool) {
			object, err := s.Cluster.Get(ctx)
			if err != nil {
				return err.Error(), false
			}
			c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionDegraded)
			current := c != nil && c.ObservedGeneration == object.Generation
			updated = current && object.Status.UpdatedMembers == object.Spec.Size && object.Status.CurrentVersion == version
			return harness.Words(object), updated || current && c.Status == metav1.ConditionTrue &&
				(c.Reason == v1beta2.ReasonWriteRefused || c.Reason == v1beta2.ReasonUpdateStopped)
		}))
	if !updated {
		s.t.Logf("%s cannot be had", version)
		s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = before })
	}
	s.accepted()
}

// keepsOthersLabel asks for a label of which somebody else decides the value.
func (s *trial) keepsOthersLabel() {
	before, pods := s.identities(), s.uids()
	lift := rewrite(s.t, s.Namespace, `Object{metadata: Object.metadata{labels: {'team': 'platform'}}}`)
	theirs := func(pod corev1.Pod) bool { return pod.Labels["team"] == "platform" }
	s.allows(s.becomes("the label is not set", anything, theirs))
	s.breaking()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Labels = map[string]string{"team": "a"} })
	s.onlyRefused("Pod "+s.Name, "team")
	s.serves(s.names("")...)
	s.unchanged("pods", pods, s.uids())
	if again := s.comesBack(s.follower()); !theirs(again) {
		s.t.Errorf("%s has the labels %v", again.Name, again.Labels)
	}
	s.onlyRefused("team")
	const most = 40 // a few for each member, each with longer pauses
	steps := s.steps()
	s.hold(askedWithin)
	if more := s.steps() - steps; more > most {
		s.t.Errorf("%d steps in %v about a label that stays as it is", more, askedWithin)
	}
	lift()
	s.allows(s.becomes("the label is still set", anything, func(pod corev1.Pod) bool { return !theirs(pod) }))
	s.accepted()
	for _, name := range s.names("") {
		if labels := s.pod(name).Labels; labels["team"] != "a" {
			s.t.Errorf("%s has the labels %v", name, labels)
		}
	}
	s.serves(s.names("")...)
	s.same(before)
	s.madeAtMost(4, memberPods)
}

// steps counts what the operator has logged that it did in the story's namespace.
func (s *trial) steps() int {
	s.t.Helper()
	pods, err := operators(s.t.Context())
	must(s.t, err)
	n := 0
	for _, p := range pods {
		said, err := env.Kube.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(s.t.Context())
		must(s.t, err)
		for line := range strings.Lines(string(said)) {
			if strings.Contains(line, `"`+s.Namespace+`"`) && strings.Contains(line, `"action"`) {
				n++
			}
		}
	}
	return n
}

// becomes is a request for a pod that is never made. It is refused unless the API server would make what it should of it.
func (s *trial) becomes(otherwise string, change func(*corev1.Pod), is func(corev1.Pod) bool) func(context.Context) error {
	return func(ctx context.Context) error {
		pod := s.neverMade(change)
		if err := env.Client.Create(ctx, pod, client.DryRunAll); err != nil {
			return err
		}
		if !is(*pod) {
			return errors.New(otherwise)
		}
		return nil
	}
}

// silence makes a webhook without which no pod is created, and that takes connections and says nothing. The API server waits for it
// for ten seconds, its default.
func (s *trial) silence() (webhook net.Listener, lift func()) {
	s.t.Helper()
	webhook, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	must(s.t, err)
	context.AfterFunc(s.t.Context(), func() { _ = webhook.Close() })
	go func() {
		for {
			conn, err := webhook.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(s.t.Context(), func() { _ = conn.Close() })
		}
	}()
	url, fail, none := "https://"+webhook.Addr().String()+"/", admissionv1.Fail, admissionv1.SideEffectClassNone
	return webhook, untilLifted(s.t, &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.Namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "silent.stories.example", ClientConfig: admissionv1.WebhookClientConfig{URL: &url}, NamespaceSelector: only(s.Namespace),
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	})
}
