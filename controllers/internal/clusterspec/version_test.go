package clusterspec

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestVersion wants a spec without a version to mean the one that was asked for last, whatever the operator's default is.
func TestVersion(t *testing.T) {
	noted := func(text string) v1beta2.InternalStatus {
		return v1beta2.InternalStatus{AcceptedSpec: &runtime.RawExtension{Raw: []byte(text)}}
	}
	minor := func(v string) v1beta2.EtcdClusterSpec { return v1beta2.EtcdClusterSpec{Version: v} }
	runs := func(v string) v1beta2.EtcdClusterStatus {
		return v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"version":"` + v + `"}`), CurrentVersion: v}
	}
	chosen := func(accepted, v string) v1beta2.EtcdClusterStatus {
		s := runs(accepted)
		s.Autopilot = &v1beta2.AutopilotStatus{Version: &v1beta2.ChosenVersion{Version: v}}
		return s
	}
	for title, c := range map[string]struct {
		spec   v1beta2.EtcdClusterSpec
		status v1beta2.EtcdClusterStatus
		want   string
		bad    bool
	}{
		"a first start": {want: version.DefaultEtcd},
		"named":         {spec: v1beta2.EtcdClusterSpec{Version: "v3.5.35"}, want: "v3.5.35"},
		"started under another default": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"size":3,"version":"3.6.11"}`), CurrentVersion: "3.6.11"}, want: "3.6.11",
		},
		"no longer named, in the middle of an update": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"version":"3.7.3"}`), CurrentVersion: "3.6.11"}, want: "3.7.3",
		},
		"noted by an operator that noted no version": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"size":3}`), CurrentVersion: "3.6.11"}, want: "3.6.11",
		},
		"by that one, in the middle of an update": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"size":3}`), CurrentVersion: "3.6.11", TargetVersion: "3.6.15"},
			want:   "3.6.15",
		},
		"by that one, before anything answered": {status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{}`)}, want: version.DefaultEtcd},
		"run by coreos/etcd-operator":           {status: v1beta2.EtcdClusterStatus{CurrentVersion: "3.2.13"}, want: version.DefaultEtcd},
		"a spec that cannot work": {
			spec:   v1beta2.EtcdClusterSpec{Version: "3.4.1"},
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{}`), CurrentVersion: "3.6.11"}, want: "3.6.11", bad: true,
		},
		"a recorded version that this operator does not run": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"version":"3.5.1"}`)}, want: "3.5.1", bad: true,
		},
		"a minor release at first":  {spec: minor("3.6"), want: version.DefaultEtcd},
		"a minor release with a v":  {spec: minor("v3.5"), want: "3.5.35"},
		"a minor release, running":  {spec: minor("3.6"), status: runs("3.6.15"), want: "3.6.15"},
		"a newer one, running":      {spec: minor("3.6"), status: runs("3.6.99"), want: "3.6.99"},
		"the next minor release":    {spec: minor("3.7"), status: runs("3.6.15"), want: "3.7.3"},
		"the minor release before":  {spec: minor("3.5"), status: runs("3.6.15"), want: "3.5.35"},
		"one that Auto Pilot chose": {spec: minor("3.6"), status: chosen("3.6.15", "3.6.16"), want: "3.6.16"},
		"one that it took back":     {spec: minor("3.6"), status: chosen("3.6.16", "3.6.15"), want: "3.6.15"},
		"a whole version, after it": {spec: minor("3.6.15"), status: chosen("3.6.15", "3.6.16"), want: "3.6.15"},
		"another one, after it":     {spec: minor("3.7"), status: chosen("3.6.15", "3.6.16"), want: "3.7.3"},
		"none, after it":            {status: chosen("3.6.15", "3.6.16"), want: "3.6.16"},
		"a choice of long ago":      {spec: minor("3.7"), status: chosen("3.7.1", "3.6.16"), want: "3.7.1"},
		"a mistake, after it": {
			spec: v1beta2.EtcdClusterSpec{Version: "3.6", Repository: "etcd:v3.6.16"}, status: chosen("3.6.15", "3.6.16"), want: "3.6.16", bad: true,
		},
		"no minor release that is supported":   {spec: minor("3.4"), status: runs("3.6.15"), want: "3.6.15", bad: true},
		"none that is supported, and at first": {spec: minor("3.8"), want: "3.8", bad: true},
	} {
		cluster := &v1beta2.EtcdCluster{Spec: c.spec, Status: c.status}
		spec, problem := Effective(cluster, nil)
		if spec.Version != c.want || (problem != nil) != c.bad || cluster.Spec.Version != c.spec.Version {
			t.Errorf("%s: %s, %v, want %s; the object names %q", title, spec.Version, problem, c.want, cluster.Spec.Version)
		}
	}
}

// TestVersionOfPods wants the same of pods that have no volumes: those that may have run, and are the cluster's own.
func TestVersionOfPods(t *testing.T) {
	cluster := &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Version: "3.6"}}
	cluster.Name, cluster.UID = "c", "uid"
	pods := func(versions ...string) (all []corev1.Pod) {
		for _, v := range versions {
			pod := corev1.Pod{}
			pod.OwnerReferences = []metav1.OwnerReference{{UID: cluster.UID, Controller: new(true)}}
			pod.Annotations = map[string]string{member.PermitAnnotation: "{}"}
			pod.Spec.Containers = []corev1.Container{{Name: resources.EtcdContainer, Image: version.Image("", v)}}
			all = append(all, pod)
		}
		return all
	}
	others, waiting := pods("3.6.15", "3.6.15"), pods("3.6.15", "3.6.15")
	for i := range others {
		others[i].OwnerReferences, waiting[i].Annotations = nil, nil
	}
	for want, given := range map[string][]corev1.Pod{
		"3.6.15": pods("3.6.15", "3.6.15", "3.6.11"), "3.6.11": pods("3.6.11", "3.6.15", "3.6.11"),
		version.DefaultEtcd: append(others, waiting...),
	} {
		if got, _ := Effective(cluster, nil, given...); got.Version != want {
			t.Errorf("with %d pods it is %s, want %s", len(given), got.Version, want)
		}
	}
}

// TestVersionWithoutStatus wants a cluster whose status was lost to keep the version that its volumes say, if it is of the minor release that
// the spec asks for.
func TestVersionWithoutStatus(t *testing.T) {
	claims := func(versions ...string) (all []corev1.PersistentVolumeClaim) {
		for i, v := range versions {
			claim := corev1.PersistentVolumeClaim{}
			claim.Name = fmt.Sprint("c-", i)
			claim.Labels = map[string]string{resources.LabelNode: claim.Name}
			claim.Annotations = map[string]string{
				resources.AnnotationVersion: v, resources.AnnotationMemberID: "1", resources.AnnotationClusterUID: "uid",
			}
			all = append(all, claim)
		}
		return all
	}
	copied := claims("3.6.15")
	copied[0].Name = "copy"
	for _, c := range []struct {
		asked, want string
		claims      []corev1.PersistentVolumeClaim
	}{
		{"3.6", "3.6.15", claims("3.6.15", "3.6.15", "3.6.11")}, // two have it: it was accepted
		{"3.6", "3.6.11", claims("3.6.15", "3.6.11", "3.6.11")}, // it may have been on trial, or never have started
		{"3.6", "3.6.11", claims("3.6.11", "3.6.15")},
		{"3.6", "3.6.15", claims("3.6.15")},
		{"3.6", "3.6.15", claims("3.6.15", "3.5.35")},
		{"3.6", version.DefaultEtcd, claims("3.5.35")},
		{"3.6", version.DefaultEtcd, claims("3.6.1", "")},
		{"3.6", version.DefaultEtcd, copied},
		{"3.6.11", "3.6.11", claims("3.6.15")},
		{"", version.DefaultEtcd, claims("3.6.15")},
	} {
		cluster := &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Version: c.asked}}
		cluster.Name, cluster.UID = "c", "uid"
		if got, _ := Effective(cluster, c.claims); got.Version != c.want {
			t.Errorf("%q with %d volumes is %s, want %s", c.asked, len(c.claims), got.Version, c.want)
		}
	}
}
