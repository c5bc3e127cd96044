package clusterspec

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// versionOf is the version to run. If the spec names none, or only its minor release, it is the last one, so that an operator with another
// default, or one that is tested with newer releases, updates no cluster: Auto Pilot does, in its time.
func versionOf(c *v1beta2.EtcdCluster, accepted *v1beta2.EtcdClusterSpec, claims []corev1.PersistentVolumeClaim, pods []corev1.Pod) string {
	if accepted == nil {
		return version.Resolve(cmp.Or(c.Spec.Version, version.DefaultEtcd), noted(c, claims, pods))
	}
	last := accepted.Version
	if runs := c.Status.CurrentVersion; version.Minor(last) != version.Minor(c.Spec.Version) && version.Minor(runs) == version.Minor(c.Spec.Version) {
		last = runs // an update to another minor release was begun, and is rolled back
	}
	return version.Resolve(cmp.Or(c.Spec.Version, accepted.Version), last)
}

// accepted is the last valid spec, nil if there was none, with the version that Auto Pilot has chosen since, if it has: that is given up in the
// pass that accepts another spec. Earlier operators did not record a version that the user had not set: it is the one that the cluster runs, or
// was being updated to.
func accepted(c *v1beta2.EtcdCluster) *v1beta2.EtcdClusterSpec {
	spec := Noted(c.Status.AcceptedSpec)
	if spec == nil {
		return nil
	}
	spec.Version = cmp.Or(spec.Version, c.Status.TargetVersion, c.Status.CurrentVersion, version.DefaultEtcd)
	if a := c.Status.Autopilot; a != nil && a.Version != nil && version.Minor(a.Version.Version) == version.Minor(spec.Version) &&
		version.Supported(a.Version.Version) == nil && !strings.ContainsAny(a.Version.Version, "-+") { // as the schema has it of the spec
		spec.Version = a.Version.Version
	}
	return spec
}

// noted is the version to run, of the minor release that is asked for, by the marks of volumes of a cluster of that name, or the images of its pods
// that have none: where there is no status, it may have been lost.
func noted(c *v1beta2.EtcdCluster, claims []corev1.PersistentVolumeClaim, pods []corev1.Pod) string {
	var versions []string
	note := func(v string) {
		asked := c.Spec.Version == "" || version.Minor(v) == version.Minor(c.Spec.Version)
		if asked && version.Supported(v) == nil {
			versions = append(versions, v)
		}
	}
	for i := range claims {
		if resources.ForeignVolume(c, &claims[i]) == "" {
			note(claims[i].Annotations[resources.AnnotationVersion])
		}
	}
	for i := range pods {
		if !resources.PodPersistent(&pods[i]) && metav1.IsControlledBy(&pods[i], c) && pods[i].Annotations[member.PermitAnnotation] != "" {
			note(version.OfImage(resources.ImageOf(&pods[i])))
		}
	}
	return version.Noted(versions)
}
