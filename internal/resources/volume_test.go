package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

func TestVolumeOwned(t *testing.T) {
	of := func(policy v1beta2.VolumeReclaimPolicy) *v1beta2.EtcdCluster {
		return cluster(func(c *v1beta2.EtcdCluster) {
			c.Spec.VolumeReclaimPolicy = policy
			c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{}}
		})
	}
	controller := true
	for title, c := range map[string]struct {
		edit           func(*corev1.PersistentVolumeClaim)
		owned, foreign bool
	}{
		"as it was made": {func(*corev1.PersistentVolumeClaim) {}, true, false},
		"used":           {func(p *corev1.PersistentVolumeClaim) { p.Annotations[AnnotationVolumeUID] = "claim" }, true, false},
		"of an earlier cluster of the name": {
			func(p *corev1.PersistentVolumeClaim) { p.Annotations[AnnotationClusterUID] = "earlier" }, false, false,
		},
		"labels only":                   {func(p *corev1.PersistentVolumeClaim) { p.Annotations = nil }, false, true},
		"a copy of the same name":       {func(p *corev1.PersistentVolumeClaim) { p.Annotations[AnnotationVolumeUID] = "first" }, false, true},
		"a copy of another name":        {func(p *corev1.PersistentVolumeClaim) { p.Name = "c-7" }, false, true},
		"a copy of a name that is none": {func(p *corev1.PersistentVolumeClaim) { p.Name, p.Labels[LabelNode] = "c-0-old", "c-0-old" }, false, true},
		"of a name with a sign":         {func(p *corev1.PersistentVolumeClaim) { p.Name, p.Labels[LabelNode] = "c--1", "c--1" }, false, true},
		"controlled by somebody else": {func(p *corev1.PersistentVolumeClaim) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Rescue", Name: "r", UID: "other", Controller: &controller}}
		}, false, true},
	} {
		for _, policy := range []v1beta2.VolumeReclaimPolicy{v1beta2.VolumeReclaimDelete, v1beta2.VolumeReclaimRetain} {
			t.Run(title+" "+string(policy), func(t *testing.T) {
				claim := Volume(of(policy), "c-0", 1)
				claim.UID = "claim"
				c.edit(claim)
				if owned, why := VolumeOwned(of(policy), claim), ForeignVolume(of(policy), claim); owned != c.owned || (why != "") != c.foreign {
					t.Errorf("owned %t, foreign %q", owned, why)
				}
			})
		}
	}
}

// TestTunedVolume has claims request what Auto Pilot has raised their size to, until the spec has another one than it was raised from.
func TestTunedVolume(t *testing.T) {
	tuned := func(spec, insteadOf string) *v1beta2.EtcdCluster {
		c := cluster(func(c *v1beta2.EtcdCluster) {
			c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(spec)},
			}}}
		})
		c.Status.Autopilot = &v1beta2.AutopilotStatus{Volume: &v1beta2.TunedVolume{
			Size: resource.MustParse("7Gi"), InsteadOf: resource.MustParse(insteadOf),
		}}
		return c
	}
	for title, c := range map[string]struct {
		cluster *v1beta2.EtcdCluster
		want    string
	}{
		"of the spec's":  {tuned("6Gi", "6Gi"), "7Gi"},
		"written so":     {tuned("6144Mi", "6Gi"), "7Gi"},
		"of another one": {tuned("9Gi", "6Gi"), "9Gi"},
		"no whole bytes": {tuned("2.2Gi", "2362232013"), "7Gi"},
	} {
		claim := Volume(c.cluster, "c-0", 1)
		if got := claim.Spec.Resources.Requests[corev1.ResourceStorage]; got.String() != c.want {
			t.Errorf("%s: a new claim requests %s, want %s", title, got.String(), c.want)
		}
		wanted := resource.MustParse(c.want)
		if got := VolumeSize(claim, wanted); got.Cmp(wanted) != 0 {
			t.Errorf("%s: it is read as %s, want %s", title, got.String(), c.want)
		}
	}
	spec := cluster(func(*v1beta2.EtcdCluster) {})
	spec.Status.Autopilot = &v1beta2.AutopilotStatus{Volume: &v1beta2.TunedVolume{}}
	if got := TunedVolume(spec); got != nil {
		t.Errorf("members on emptyDirs have volumes of %s", got)
	}
}
