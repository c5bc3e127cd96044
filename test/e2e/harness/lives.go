package harness

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// OnVolumes is a cluster whose members have claims.
func OnVolumes(size int32) v1beta2.EtcdClusterSpec {
	return v1beta2.EtcdClusterSpec{Size: size, Pod: &v1beta2.PodPolicy{
		PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}}
}

// Lives are the members' pods, and how often each of their containers was started.
func (c *Cluster) Lives(ctx context.Context) (map[string]string, error) {
	pods, err := c.Pods(ctx)
	lives := map[string]string{}
	for _, p := range pods {
		text := string(p.UID)
		for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
			text += fmt.Sprintf(" %s %d", s.Name, s.RestartCount)
		}
		lives[p.Name] = text
	}
	return lives, err
}

// LivedOn is an error if one of these pods was recreated or restarted, or is gone. There may be others.
func (c *Cluster) LivedOn(ctx context.Context, before map[string]string) error {
	after, err := c.Lives(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(after, func(name, _ string) bool { return before[name] == "" })
	if len(before) == 0 || !maps.Equal(before, after) {
		return fmt.Errorf("the pods of %s were %v and are %v", c.Name, before, after)
	}
	return nil
}
