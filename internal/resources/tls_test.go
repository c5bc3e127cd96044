package resources

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// secured is what a pod of a cluster with TLS on both sides gets.
func secured(trust string) PodOptions {
	o := options
	o.Transport, o.Trust = member.Transport{PeerTLS: true, ClientTLS: true}, trust
	return o
}

func TestGoldenTLS(t *testing.T) {
	golden(t, "tls", build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, secured("c-trust-0123456789")))
}

// TestTrustIsNotTheTemplate holds that which authorities a pod trusts does not count as a change of its spec, by which a member is made
// from the previous one: the controller compares the Secret that a pod names.
func TestTrustIsNotTheTemplate(t *testing.T) {
	c := cluster(func(*v1beta2.EtcdCluster) {})
	pod := build(t, c, nil, secured("c-trust-1"))
	if got := TrustOf(pod); got != "c-trust-1" {
		t.Errorf("the pod trusts %q", got)
	}
	if got := TrustOf(build(t, c, nil, options)); got != "" {
		t.Errorf("a pod without TLS trusts %q", got)
	}
	for _, test := range []struct {
		options PodOptions
		want    plan.Drift
	}{
		{secured("c-trust-1"), plan.Drift{}},
		{secured("c-trust-2"), plan.Drift{}},
		{options, plan.Drift{Template: true}},
	} {
		r, err := RevisionOf(c, test.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Drift(pod, ""); got != test.want {
			t.Errorf("%+v: drift %+v, want %+v", test.options, got, test.want)
		}
	}
}

// TestOneSide has the Secrets mounted for either side: the keys in them say which.
func TestOneSide(t *testing.T) {
	for _, transport := range []member.Transport{{PeerTLS: true}, {ClientTLS: true}} {
		o := secured("c-trust-1")
		o.Transport = transport
		pod := build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, o)
		var secrets []string
		for _, v := range pod.Spec.Volumes {
			if v.Secret != nil {
				secrets = append(secrets, v.Secret.SecretName)
				if v.Secret.Optional != nil || len(v.Secret.Items) > 0 {
					t.Errorf("%+v: %s is not mounted whole and for certain", transport, v.Name)
				}
			}
		}
		if got := strings.Join(secrets, " "); got != "c-0-tls c-trust-1" {
			t.Errorf("%+v: it mounts %s", transport, got)
		}
	}
}

func TestClientURLFollowsTheTransport(t *testing.T) {
	for want, transport := range map[string]v1beta2.TransportStatus{
		"http://c-client.ns.svc:2379": {PeerTLS: true}, "https://c-client.ns.svc:2379": {ClientTLS: true},
	} {
		c := cluster(func(c *v1beta2.EtcdCluster) { c.Status.ClusterID, c.Status.Transport = "c1", &transport })
		if got := ClientURL(c); got != want {
			t.Errorf("%+v: %s, want %s", transport, got, want)
		}
	}
}

// TestTemplateWithTLS holds that no template takes the place of a member's certificates.
func TestTemplateWithTLS(t *testing.T) {
	for template, want := range map[string]string{
		"{spec: {volumes: [{name: member-tls, emptyDir: {}}]}}":                                                                "spec.volumes[member-tls]",
		"{spec: {volumes: [{name: member-trust, secret: {secretName: mine}}]}}":                                                "spec.volumes[member-trust]",
		"{spec: {containers: [{name: etcd, volumeMounts: [{name: x, mountPath: /etc/etcdtls/member/peer.crt}]}]}}":             "volumeMounts[/etc/etcdtls/member/peer.crt]",
		"{spec: {containers: [{name: etcd, volumeMounts: [{name: member-tls, mountPath: /etc/etcdtls/member, subPath: x}]}]}}": "volumeMounts[/etc/etcdtls/member]",
		"{spec: {containers: [{name: etcd, volumeMounts: [{name: x, mountPath: /etc/etcdtls}]}]}}":                             "volumeMounts[/etc/etcdtls]",
		"{spec: {volumes: [{name: mine, emptyDir: {}}]}}":                                                                      "",
	} {
		for _, of := range []func(*v1beta2.EtcdClusterSpec){
			func(s *v1beta2.EtcdClusterSpec) { s.TLS = &v1beta2.TLSPolicy{} },
			func(s *v1beta2.EtcdClusterSpec) { s.LegacyTLS = &v1beta2.TLSPolicy{} },
		} {
			c := templated(t, template)
			of(&c.Spec)
			err := CheckTemplate(c)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", template, err, want)
			}
		}
	}
}

func TestSecrets(t *testing.T) {
	c := cluster(func(*v1beta2.EtcdCluster) {})
	data := map[string][]byte{"key": []byte("value")}
	for want, s := range map[string]*corev1.Secret{
		"c-0-tls":            MemberSecret(c, "c-0", data),
		"c-trust-0123456789": TrustSecret(c, "0123456789", data),
		"c-ca":               AuthoritySecret(c, data, ""),
		"c-client":           ClientSecret(c, data),
		"c-agent":            AgentSecret(c, data),
	} {
		if s.Name != want || s.Namespace != "ns" || string(s.Data["key"]) != "value" {
			t.Errorf("Secret %s/%s %v, want %s", s.Namespace, s.Name, s.Data, want)
		}
		if len(s.OwnerReferences) != 1 || s.OwnerReferences[0].UID != "uid" || !*s.OwnerReferences[0].Controller {
			t.Errorf("%s: owners %+v", want, s.OwnerReferences)
		}
		if !contains(s.Labels, ClusterSelector("c")) {
			t.Errorf("%s: labels %v", want, s.Labels)
		}
		if immutable, kind := s.Immutable != nil && *s.Immutable, s.Type; immutable != strings.HasPrefix(want, "c-trust-") ||
			(kind == corev1.SecretTypeTLS) != (want == "c-client") {
			t.Errorf("%s: immutable %t, type %s", want, immutable, kind)
		}
	}
	if s := AuthoritySecret(c, data, "ca:1"); s.Annotations[certificates.RotatedAnnotation] != "ca:1" {
		t.Errorf("annotations %v", s.Annotations)
	}
}

// TestSecretNamesFit has the longest name that the API accepts for a cluster.
func TestSecretNamesFit(t *testing.T) {
	longest := strings.Repeat("c", 52)
	for _, name := range []string{
		certificates.MemberName(longest + "-1234567890"), certificates.TrustName(longest, strings.Repeat("0", 32)), certificates.AuthorityName(longest),
		certificates.ClientName(longest), certificates.AgentName(longest),
	} {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// TestProbeStaysPlain holds that the kubelet, which has no client certificate, asks where none is demanded.
func TestProbeStaysPlain(t *testing.T) {
	plain := build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, options)
	tls := build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, secured("c-trust-1"))
	want, err := yaml.Marshal(plain.Spec.Containers[0].ReadinessProbe)
	if err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(tls.Spec.Containers[0].ReadinessProbe)
	if err != nil || string(got) != string(want) || !strings.Contains(string(got), "scheme: HTTP\n") {
		t.Errorf("the probe is %s, %v", got, err)
	}
}
