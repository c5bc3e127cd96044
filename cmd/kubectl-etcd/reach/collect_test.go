package reach

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/diagnose"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

const (
	namespace = "default"
	// planted is a password that people have put wherever one may be put.
	planted = "hunter2-hunter2"
	leaseOf = "etcd-operator.etcd.database.coreos.com"
)

// TestOnARealAPIServer examines and packs a cluster whose pod never starts, as an administrator and as who may do nothing else.
func TestOnARealAPIServer(t *testing.T) {
	config := testenv.Start(t)
	admin := accessOf(t, config, "")
	plant(t, admin)
	t.Run("doctor", func(t *testing.T) { examine(t, admin) })
	t.Run("diagnose", func(t *testing.T) { packs(t, admin) })
	t.Run("events", func(t *testing.T) { tells(t, admin) })
	t.Run("as a stranger", func(t *testing.T) {
		_, err := accessOf(t, config, "stranger").Examine(t.Context(), "demo", false)
		if err == nil || !strings.Contains(err.Error(), "forbidden") {
			t.Errorf("a stranger gets %v", err)
		}
	})
}

func examine(t *testing.T, a *Access) {
	f, err := a.Examine(t.Context(), "demo", true)
	must(t, err)
	r := doctor.Examine(f)
	for check, want := range map[string]doctor.Verdict{
		"rights": doctor.Good, "operator": doctor.Good, "quorum": doctor.Wrong, "members": doctor.Wrong, "hashes": doctor.Unknown,
		"budget": doctor.Doubtful, "volumes": doctor.Wrong, "backups": doctor.Doubtful,
	} {
		if !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return f.Check == check && f.Verdict == want }) {
			t.Errorf("%s is not %s in %+v", check, want, r.Findings)
		}
	}
	if r.Err() == nil {
		t.Error("nothing is wrong")
	}
	if _, err := a.Examine(t.Context(), "other", false); err == nil || !strings.Contains(err.Error(), `has no EtcdCluster other, but ["demo"]`) {
		t.Errorf("of a cluster that does not exist: %v", err)
	}
}

// tells wants the events about the EtcdCluster itself, and no others.
func tells(t *testing.T, a *Access) {
	c, err := a.Object(t.Context(), "demo")
	must(t, err)
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	must(t, a.client.Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: "demo.held"},
		InvolvedObject: corev1.ObjectReference{Kind: "EtcdCluster", Namespace: namespace, Name: "demo", UID: c.UID},
		Reason:         v1beta2.ReasonWaitingForWindow, Message: "m", LastTimestamp: metav1.NewTime(at),
	}))
	events, err := a.Events(t.Context(), c)
	if err != nil || len(events) != 1 || events[0].Reason != v1beta2.ReasonWaitingForWindow || !events[0].Time.Equal(at) {
		t.Errorf("events are %+v (%v)", events, err)
	}
	if _, err := a.Object(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), "has no EtcdCluster other") {
		t.Errorf("of a cluster that does not exist: %v", err)
	}
}

func packs(t *testing.T, a *Access) {
	var said strings.Builder
	bundle := &diagnose.Bundle{Say: func(words string) { said.WriteString(words + "\n") }}
	c, err := a.Collect(t.Context(), "demo", bundle)
	must(t, err)
	var packed bytes.Buffer
	must(t, bundle.Write(&packed, "demo", diagnose.About(c.Namespace, c.Name, "dev", time.Now()), time.Now()))
	files := unpack(t, &packed)
	for name, want := range map[string]string{
		"etcdcluster.yaml": "ETCD_PASSWORD", "pods.yaml": "valueFrom", "events.yaml": "FailedScheduling", "doctor.txt": "✗ quorum",
		"answers.json": "its pod is Pending", "README": "Could not be had:", "services.yaml": "demo-client",
	} {
		if !strings.Contains(files["demo/"+name], want) {
			t.Errorf("%s has no %q:\n%s", name, want, files["demo/"+name])
		}
	}
	for _, missing := range []string{"metrics/demo-0.txt: ", "logs/demo-0.log: ", "logs/operator.log: "} {
		if !strings.Contains(files["demo/README"], missing) || !strings.Contains(said.String(), "! "+missing) {
			t.Errorf("it is not said that %s is missing:\n%s%s", missing, files["demo/README"], said.String())
		}
	}
	if strings.Contains(files["demo/events.yaml"], "of another") {
		t.Error("events of others are packed")
	}
	for name, text := range files {
		if strings.Contains(text, planted) || strings.Contains(text, "kind: Secret\n") {
			t.Errorf("a secret is in %s:\n%s", name, text)
		}
	}
	if strings.Contains(said.String(), planted) {
		t.Errorf("a secret is told:\n%s", said.String())
	}
}

// plant creates a cluster with a member that no node takes, and a password wherever one may be.
func plant(t *testing.T, a *Access) {
	t.Helper()
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demo", Annotations: map[string]string{"note": planted}}}
	c.Spec.Size = 1
	c.Spec.Etcd = &v1beta2.EtcdOptions{ExtraArgs: map[string]string{"experimental-token": planted}}
	c.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_PASSWORD", Value: planted}}}
	must(t, a.client.Create(t.Context(), c))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: leaseOf}}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("manager-0_uuid"), new(metav1.NowMicro())
	must(t, a.client.Create(t.Context(), lease))
	c.Status.MemberStatuses = []v1beta2.MemberStatus{{
		Name: "demo-0", ID: "a", Role: v1beta2.MemberRoleVoter, Message: "waits for https://user:" + planted + "@example.com",
	}}
	c.Status.Storage, c.Status.CurrentVersion, c.Status.ObservedGeneration = v1beta2.MemberStoragePVC, "3.6.16", c.Generation
	c.Status.Operator = &v1beta2.OperatorReference{Namespace: namespace, Lease: leaseOf, UID: string(lease.UID)}
	must(t, a.client.Status().Update(t.Context(), c))

	must(t, a.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demo-client", Labels: resources.ClusterSelector("demo")},
		StringData: map[string]string{"password": planted},
	}))
	must(t, a.client.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "demo-client", Labels: resources.ClusterSelector("demo")},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 2379}}},
	}))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "demo-0", Labels: resources.ClusterSelector("demo"), Annotations: map[string]string{"x": planted},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1beta2.GroupVersion.String(), Kind: "EtcdCluster", Name: "demo", UID: c.UID, Controller: new(true),
		}},
	}}
	pod.Spec.Containers = []corev1.Container{{
		Name: resources.EtcdContainer, Image: "etcd", Command: []string{"etcd", planted}, Args: []string{"--password=" + planted},
		Env: []corev1.EnvVar{
			{Name: "A", Value: planted},
			{Name: "B", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "demo-client"}, Key: "password",
			}}},
		},
	}}
	must(t, a.client.Create(t.Context(), pod))
	event := func(name, reason, message string, uid types.UID) {
		e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Reason: reason, Message: message, Type: "Warning"}
		e.InvolvedObject = corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name, UID: uid}
		must(t, a.client.Create(t.Context(), e))
	}
	event("demo-0", "FailedScheduling", "no node for "+planted, pod.UID)
	event("other", "Started", "of another", "another")
}

// accessOf is that of a user, or of the administrator.
func accessOf(t *testing.T, config *rest.Config, user string) *Access {
	t.Helper()
	config = rest.CopyConfig(config)
	config.Impersonate.UserName = user
	return &Access{config: config, client: testenv.Client(t, config), namespace: namespace}
}

func unpack(t *testing.T, packed io.Reader) map[string]string {
	t.Helper()
	unzipped, err := gzip.NewReader(packed)
	must(t, err)
	files := map[string]string{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if err == io.EOF { //nolint:errorlint // Next returns it as it is
			return files
		}
		must(t, err)
		text, err := io.ReadAll(archive)
		must(t, err)
		files[header.Name] = string(text)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
