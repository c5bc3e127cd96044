package resources

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

var update = flag.Bool("update", false, "write the golden files")

func cluster(edit func(*v1beta2.EtcdCluster)) *v1beta2.EtcdCluster {
	c := &v1beta2.EtcdCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "EtcdCluster"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "uid"},
		Spec:       v1beta2.EtcdClusterSpec{Size: 3},
	}
	edit(c)
	return c
}

func build(t *testing.T, c *v1beta2.EtcdCluster, permit *member.Permit, o PodOptions) *corev1.Pod {
	t.Helper()
	pod, err := Pod(c, "c-0", 1, permit, o)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

var options = PodOptions{OperatorImage: "operator:1", EtcdVersion: "3.6.16"}

// TestGoldenPods shows whole pods, so that every change of what runs is seen in review. Write them with -update.
func TestGoldenPods(t *testing.T) {
	for name, c := range map[string]*v1beta2.EtcdCluster{
		"plain": cluster(func(*v1beta2.EtcdCluster) {}),
		"legacy": cluster(func(c *v1beta2.EtcdCluster) {
			c.Spec.Repository = "registry.example.com/etcd"
			c.Spec.Pod = &v1beta2.PodPolicy{
				Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"},
				NodeSelector: map[string]string{"disk": "fast"}, AntiAffinity: true, BusyboxImage: "busybox:1.28",
				EtcdEnv:       []corev1.EnvVar{{Name: "ETCD_AUTO_COMPACTION_RETENTION", Value: "1"}},
				ClusterDomain: ".cluster.local",
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
				},
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
					},
				},
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(build(t, c, nil, options))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(file, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("the pod is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestSpecHash(t *testing.T) {
	base := build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, options).Annotations[AnnotationSpecHash]
	newer := options
	newer.OperatorImage = "operator:2"
	permit := &member.Permit{Mode: member.ModeResume, ClusterID: 1, MemberID: 2}
	if got := build(t, cluster(func(*v1beta2.EtcdCluster) {}), permit, newer).Annotations[AnnotationSpecHash]; got != base {
		t.Error("a permit or a new operator makes a pod outdated")
	}
	other := cluster(func(c *v1beta2.EtcdCluster) { c.Spec.Repository = "other" })
	if got := build(t, other, nil, options).Annotations[AnnotationSpecHash]; got == base {
		t.Error("another image does not make a pod outdated")
	}
}

func TestPermitOnThePod(t *testing.T) {
	permit := &member.Permit{Mode: member.ModeResume, ClusterID: 1, MemberID: 2}
	pod := build(t, cluster(func(*v1beta2.EtcdCluster) {}), permit, options)
	got, err := member.ParsePermit(pod.Annotations[member.PermitAnnotation])
	if err != nil || *got != *permit {
		t.Errorf("permit %+v, %v", got, err)
	}
}

func TestMemberConfig(t *testing.T) {
	pod := build(t, cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{ClusterDomain: ".example.org"}
	}), nil, options)
	config := member.Config{}
	for _, e := range pod.Spec.Containers[0].Env {
		if e.Name == member.EnvConfig {
			if err := json.Unmarshal([]byte(e.Value), &config); err != nil {
				t.Fatal(err)
			}
		}
	}
	if config.PeerURL != "http://c-0.c.ns.svc.example.org:2380" || config.DataDir != "/var/etcd/data" {
		t.Errorf("configuration %+v", config)
	}
}

func TestOpenShiftChoosesTheUser(t *testing.T) {
	o := options
	o.OpenShift = true
	context := build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, o).Spec.SecurityContext
	if context.RunAsUser != nil || context.FSGroup != nil || !*context.RunAsNonRoot {
		t.Errorf("security context %+v", context)
	}
}

func TestVolumesFollowThePolicy(t *testing.T) {
	claim := func(policy v1beta2.VolumeReclaimPolicy) *corev1.PersistentVolumeClaim {
		return Volume(cluster(func(c *v1beta2.EtcdCluster) {
			c.Spec.VolumeReclaimPolicy = policy
			c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{}}
		}), "c-0", 1)
	}
	if owners := claim(v1beta2.VolumeReclaimRetain).OwnerReferences; len(owners) != 0 {
		t.Errorf("a retained volume is owned by %v", owners)
	}
	if owners := claim(v1beta2.VolumeReclaimDelete).OwnerReferences; len(owners) != 1 || owners[0].UID != "uid" {
		t.Errorf("a volume that goes with its cluster is owned by %v", owners)
	}
	if modes := claim("").Spec.AccessModes; len(modes) != 1 || modes[0] != corev1.ReadWriteOnce {
		t.Errorf("access modes %v", modes)
	}
}
