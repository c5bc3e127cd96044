package clusterspec

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

func TestValidate(t *testing.T) {
	type spec = v1beta2.EtcdClusterSpec
	pod := func(p v1beta2.PodPolicy) spec { return spec{Pod: &p} }
	priority := &v1beta2.EtcdOptions{ExtraArgs: map[string]string{"feature-gates": "PriorityRequest=true"}}
	sized := corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}
	static := &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{OperatorSecret: "s", Member: &v1beta2.MemberSecret{ServerSecret: "s"}}}
	own := map[string]string{"etcd.database.coreos.com/permit": "x"}
	template := func(text string) spec {
		return pod(v1beta2.PodPolicy{Template: &runtime.RawExtension{Raw: []byte(text)}})
	}
	for name, c := range map[string]struct {
		spec            spec
		reason, message string
	}{
		"nothing":     {},
		"old version": {spec{Version: "3.4.1"}, v1beta2.ReasonUnsupportedVersion, "too old"},
		"a digest": {
			spec{Repository: "mirror:5000/etcd@sha256:0123"}, v1beta2.ReasonInvalidRepository, `spec.repository has a digest: remove "@sha256:0123"`,
		},
		"a tag":    {spec{Repository: "mirror:5000/etcd:v3.6.16"}, v1beta2.ReasonInvalidRepository, `spec.repository has a tag: remove ":v3.6.16"`},
		"a mirror": {spec: spec{Repository: "mirror:5000/etcd"}},
		"option of another version": {
			spec{Version: "3.6.16", Etcd: priority},
			v1beta2.ReasonInvalidOption, "etcd 3.6.16 does not have (PriorityRequest is new in 3.7)",
		},
		"option of this version": {
			spec: spec{Version: "3.7.3", Etcd: priority},
		},
		"TLS":            {spec: spec{TLS: static}},
		"a legacy one's": {spec: spec{LegacyTLS: static}},
		"TLS for clients and not for the operator": {
			spec{TLS: &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{ServerSecret: "s"}}}},
			v1beta2.ReasonCertificatesInvalid, "spec.tls.static: give member.serverSecret and operatorSecret together",
		},
		"TLS for nobody": {
			spec{LegacyTLS: &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{}}}, v1beta2.ReasonCertificatesInvalid, "spec.TLS.static: give member.peerSecret",
		},
		"TLS of no kind": {spec: spec{TLS: &v1beta2.TLSPolicy{}, LegacyTLS: &v1beta2.TLSPolicy{}}},
		"a Secret's value": {
			pod(v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_LOG_LEVEL", ValueFrom: &corev1.EnvVarSource{}}}}),
			v1beta2.ReasonInvalidOption, "valueFrom",
		},
		"an annotation of the operator's": {
			pod(v1beta2.PodPolicy{Annotations: own}), v1beta2.ReasonInvalidPod, "/permit is the operator's own",
		},
		"a volume's":           {pod(v1beta2.PodPolicy{VolumeAnnotations: own}), v1beta2.ReasonInvalidPod, "spec.pod.volume"},
		"an annotation app":    {spec: pod(v1beta2.PodPolicy{Annotations: map[string]string{"app": "x"}})},
		"a template":           {spec: template(`{"spec":{"dnsPolicy":"Default"}}`)},
		"a misspelt template":  {template(`{"spec":{"dns":"x"}}`), v1beta2.ReasonInvalidPod, `unknown field "spec.dns"`},
		"a forbidden template": {template(`{"spec":{"hostname":"x"}}`), v1beta2.ReasonInvalidPod, "spec.hostname"},
		"shared volumes": {
			pod(v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, Resources: sized,
			}}), v1beta2.ReasonInvalidPod, "ReadWriteMany",
		},
		"volumes":            {spec: pod(v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{Resources: sized}})},
		"volumes of no size": {pod(v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{}}), v1beta2.ReasonInvalidPod, "requests.storage"},
	} {
		got := validate(&v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: c.spec})
		switch {
		case c.reason == "" && got != nil:
			t.Errorf("%s: %+v", name, got)
		case c.reason != "" && (got == nil || got.Reason != c.reason || !strings.Contains(got.Message, c.message)):
			t.Errorf("%s: %+v, want %s with %q", name, got, c.reason, c.message)
		}
	}
}

// TestKeptVolumesMayBeBigger refuses less storage than a member's volume has, and nothing because of one that is kept or was never used.
func TestKeptVolumesMayBeBigger(t *testing.T) {
	sized := func(size string) corev1.VolumeResourceRequirements {
		return corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}}
	}
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "c"}, Spec: v1beta2.EtcdClusterSpec{
		Pod: &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{Resources: sized("2Gi")}},
	}}
	claim := resources.Volume(c, "c-0", 1)
	claim.UID = "u"
	c.Spec.Pod.PersistentVolumeClaimSpec.Resources = sized("1Gi")
	claims := []corev1.PersistentVolumeClaim{*claim}
	if _, problem := Effective(c, claims); problem != nil {
		t.Errorf("of one never used: %+v", problem)
	}
	claims[0].Annotations = map[string]string{resources.AnnotationMemberID: "a0"}
	claims[0].Annotations[resources.AnnotationClusterUID] = claim.Annotations[resources.AnnotationClusterUID]
	if _, problem := Effective(c, claims); problem == nil || problem.Reason != v1beta2.ReasonVolumeShrinks {
		t.Errorf("of a member: %+v", problem)
	}
	c.Status.KeptVolumes = []v1beta2.KeptVolume{{Name: "c-0", UID: "u"}}
	if _, problem := Effective(c, claims); problem != nil {
		t.Errorf("of none: %+v", problem)
	}
}

// TestTransportMayChange accepts another transport than the members have, on either side and in both directions, and refuses to leave TLS for
// clients while etcd's authentication is on.
func TestTransportMayChange(t *testing.T) {
	managed := &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	peers := &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{PeerSecret: "p"}}}
	secure := &v1beta2.TransportStatus{PeerTLS: true, ClientTLS: true}
	for name, c := range map[string]struct {
		recorded *v1beta2.TransportStatus
		asked    *v1beta2.TLSPolicy
		auth     bool
		refused  string
	}{
		"to TLS":               {asked: managed},
		"clients, too":         {recorded: &v1beta2.TransportStatus{PeerTLS: true}, asked: managed},
		"from TLS":             {recorded: secure},
		"clients no more":      {recorded: secure, asked: peers},
		"from TLS with auth":   {recorded: secure, auth: true, refused: "set spec.auth.enabled to false first"},
		"clients no more, too": {recorded: secure, asked: peers, auth: true, refused: "set spec.auth.enabled to false first"},
		"half of a side": {
			asked:   &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{ServerSecret: "s"}}},
			refused: "together",
		},
	} {
		cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: v1beta2.EtcdClusterSpec{Size: 3, TLS: c.asked}}
		cluster.Status.ClusterID, cluster.Status.Transport = "c1", c.recorded
		if c.auth {
			cluster.Status.Auth = &v1beta2.AuthStatus{Enabled: true}
		}
		got := validate(cluster)
		if c.refused == "" && got != nil || c.refused != "" && (got == nil || !strings.Contains(got.Message, c.refused)) {
			t.Errorf("%s: %+v, want %q", name, got, c.refused)
		}
	}
}

// TestAuthNeedsTLS refuses authentication without certificates, and to give up certificates while it is on.
func TestAuthNeedsTLS(t *testing.T) {
	managed := &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	peers := &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{PeerSecret: "p"}}}
	allowed := &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}, PlaintextClients: v1beta2.PlaintextAllowed}
	on, off := &v1beta2.AuthPolicy{Enabled: true}, &v1beta2.AuthPolicy{}
	for name, c := range map[string]struct {
		spec    v1beta2.EtcdClusterSpec
		status  *v1beta2.AuthStatus
		started *v1beta2.TransportStatus
		want    string
	}{
		"plain":                        {spec: v1beta2.EtcdClusterSpec{Auth: off}},
		"on, plain":                    {spec: v1beta2.EtcdClusterSpec{Auth: on}, want: "which needs TLS for clients: set spec.tls.managed"},
		"on, TLS between members":      {spec: v1beta2.EtcdClusterSpec{Auth: on, TLS: peers}, want: "which needs TLS for clients: set spec.tls.managed"},
		"on, started plain":            {spec: v1beta2.EtcdClusterSpec{Auth: on}, started: &v1beta2.TransportStatus{}, want: "set spec.tls.managed"},
		"to be on, TLS given up":       {spec: v1beta2.EtcdClusterSpec{Auth: on}, started: &v1beta2.TransportStatus{ClientTLS: true}, want: "set spec.tls.managed"},
		"on":                           {spec: v1beta2.EtcdClusterSpec{Auth: on, TLS: managed}},
		"on, by its former name":       {spec: v1beta2.EtcdClusterSpec{Auth: on, LegacyTLS: managed}},
		"still on, both given up":      {spec: v1beta2.EtcdClusterSpec{}, status: &v1beta2.AuthStatus{Enabled: true}, want: "give spec.tls as it was"},
		"still on, and to be off":      {spec: v1beta2.EtcdClusterSpec{Auth: off}, status: &v1beta2.AuthStatus{Enabled: true}, want: "give spec.tls as it was"},
		"on, clients may do without":   {spec: v1beta2.EtcdClusterSpec{Auth: on, TLS: allowed}, want: "remove plaintextClients"},
		"by its former name":           {spec: v1beta2.EtcdClusterSpec{Auth: on, LegacyTLS: allowed}, want: "remove plaintextClients"},
		"still on, and may do without": {spec: v1beta2.EtcdClusterSpec{TLS: allowed}, status: &v1beta2.AuthStatus{Enabled: true}, want: "remove plaintextClients"},
		"off, clients may do without":  {spec: v1beta2.EtcdClusterSpec{Auth: off, TLS: allowed}},
		"off, and TLS is given up":     {spec: v1beta2.EtcdClusterSpec{Auth: off}, status: &v1beta2.AuthStatus{}},
		"still on, TLS as it was":      {spec: v1beta2.EtcdClusterSpec{TLS: managed}, status: &v1beta2.AuthStatus{Enabled: true}},
	} {
		cluster := &v1beta2.EtcdCluster{Spec: c.spec, Status: v1beta2.EtcdClusterStatus{Auth: c.status}}
		if c.started != nil {
			cluster.Status.ClusterID, cluster.Status.Transport = "c1", c.started
		}
		got := validateAuth(cluster)
		if (got != nil) != (c.want != "") || got != nil && (got.Reason != v1beta2.ReasonAuthNeedsTLS || !strings.Contains(got.Message, c.want)) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
