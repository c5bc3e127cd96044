package resources

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
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
				EtcdEnv:             []corev1.EnvVar{{Name: "ETCD_AUTO_COMPACTION_RETENTION", Value: "1"}},
				LegacyClusterDomain: ".cluster.local",
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
			o := options
			o.Persistent = Persistent(c)
			golden(t, name, build(t, c, nil, o))
		})
	}
}

// golden compares an object with a file, or writes that.
func golden(t *testing.T, name string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
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
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}

func TestRevision(t *testing.T) {
	revision := func(edit func(*v1beta2.EtcdCluster)) Revision {
		r, err := RevisionOf(cluster(edit), options)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	pod := func(edit func(*v1beta2.EtcdCluster)) *corev1.Pod { return build(t, cluster(edit), nil, options) }
	plain := func(*v1beta2.EtcdCluster) {}
	policy := func(p v1beta2.PodPolicy) func(*v1beta2.EtcdCluster) {
		return func(c *v1beta2.EtcdCluster) { c.Spec.Pod = &p }
	}
	cpu := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
	labelled := policy(v1beta2.PodPolicy{Labels: map[string]string{"team": "a"}})
	sized := policy(v1beta2.PodPolicy{Resources: cpu})
	stubborn, bared := pod(plain), pod(labelled)
	stubborn.Annotations[AnnotationFixed] = revision(sized).Resources
	delete(bared.Labels, "team")
	relabelled := pod(plain)
	relabelled.Labels[LabelNode] = "x"
	mirrored := func(image string) *corev1.Pod {
		p := pod(plain)
		p.Spec.Containers[0].Image = image
		return p
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		spec func(*v1beta2.EtcdCluster)
		want plan.Drift
	}{
		"the same":            {pod(plain), plain, plan.Drift{}},
		"another size":        {pod(plain), func(c *v1beta2.EtcdCluster) { c.Spec.Size = 5 }, plan.Drift{}},
		"another version":     {pod(plain), func(c *v1beta2.EtcdCluster) { c.Spec.Version = "3.7.3" }, plan.Drift{}},
		"another repository":  {pod(plain), func(c *v1beta2.EtcdCluster) { c.Spec.Repository = "x/y" }, plan.Drift{Image: true}},
		"a mirror's image":    {mirrored("mirror/etcd:v" + version.OfImage(EtcdOf(pod(plain)).Image)), plain, plan.Drift{}},
		"an image by digest":  {mirrored("mirror/etcd@sha256:abc"), plain, plan.Drift{}},
		"the newest by hand":  {mirrored("mirror/etcd:latest"), plain, plan.Drift{Image: true}},
		"another's by hand":   {mirrored("mirror/etcd:v3.0.1"), plain, plan.Drift{Image: true}},
		"a label more":        {pod(plain), labelled, plan.Drift{Metadata: true}},
		"a label less":        {pod(labelled), plain, plan.Drift{Metadata: true}},
		"a label removed":     {bared, labelled, plan.Drift{Metadata: true, Rewritten: true}},
		"our label changed":   {relabelled, plain, plan.Drift{Metadata: true, Rewritten: true}},
		"resources":           {pod(plain), sized, plan.Drift{Resources: true}},
		"resources refused":   {stubborn, sized, plan.Drift{Template: true}},
		"another placement":   {pod(plain), policy(v1beta2.PodPolicy{AntiAffinity: true}), plan.Drift{Template: true}},
		"an option":           {pod(plain), policy(v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_LOG_LEVEL", Value: "warn"}}}), plan.Drift{Template: true}},
		"volumes are counted": {pod(plain), policy(v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{}}), plan.Drift{}},
	} {
		spec := cluster(c.spec)
		if got := revision(c.spec).Drift(c.pod, spec.Spec.Repository); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestRevisionIsTheOperatorsNot holds that a new operator makes no member outdated.
func TestRevisionIsTheOperatorsNot(t *testing.T) {
	newer := PodOptions{OperatorImage: "operator:2", EtcdVersion: "3.7.3", Persistent: true}
	a, errA := RevisionOf(cluster(func(*v1beta2.EtcdCluster) {}), options)
	b, errB := RevisionOf(cluster(func(*v1beta2.EtcdCluster) {}), newer)
	if a != b || errA != nil || errB != nil {
		t.Errorf("%+v and %+v, %v, %v", a, b, errA, errB)
	}
	if drift := b.Drift(build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, options), ""); drift.Any() {
		t.Errorf("a pod that an operator of another image has made differs: %+v", drift)
	}
}

// TestRepository takes the spec's before the operator's.
func TestRepository(t *testing.T) {
	mirrored := options
	mirrored.Repository = "mirror.example.com/etcd"
	for want, spec := range map[string]string{
		"mirror.example.com/etcd:v3.6.16": "", "registry.example.com/etcd:v3.6.16": "registry.example.com/etcd",
	} {
		pod := build(t, cluster(func(c *v1beta2.EtcdCluster) { c.Spec.Repository = spec }), nil, mirrored)
		if got := EtcdOf(pod).Image; got != want {
			t.Errorf("spec.repository %q gives %s, want %s", spec, got, want)
		}
	}
}

func TestMetadataPatch(t *testing.T) {
	old := build(t, cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{Labels: map[string]string{"team": "a", "kept": "x"}}
	}), nil, options)
	r, err := RevisionOf(cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{
			Labels: map[string]string{"kept": "y"}, Annotations: map[string]string{"note": "b"},
		}
	}), options)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r.MetadataPatch(old))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"annotations":{"etcd.database.coreos.com/metadata":` +
		`"{\"labels\":{\"kept\":\"y\"},\"annotations\":{\"note\":\"b\"}}","note":"b"},"labels":{"app":"etcd",` +
		`"app.kubernetes.io/component":"member","app.kubernetes.io/instance":"c",` +
		`"app.kubernetes.io/managed-by":"etcd-operator","app.kubernetes.io/name":"etcd","etcd_cluster":"c",` +
		`"etcd_node":"c-0","kept":"y","team":null}}`
	if string(got) != want {
		t.Errorf("patch %s, want %s", got, want)
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

// TestEtcdCannotReplaceMemberRun holds that only the init container writes where the program is that guards each start of etcd, and that
// etcd's container still has a folder for what is written at each start.
func TestEtcdCannotReplaceMemberRun(t *testing.T) {
	spec := build(t, cluster(func(*v1beta2.EtcdCluster) {}), nil, options).Spec
	mount := func(c corev1.Container, path string) corev1.VolumeMount {
		for _, m := range c.VolumeMounts {
			if m.MountPath == path {
				return m
			}
		}
		t.Fatalf("%s mounts nothing at %s", c.Name, path)
		return corev1.VolumeMount{}
	}
	etcd, installer := spec.Containers[0], spec.InitContainers[0]
	if !strings.HasPrefix(etcd.Command[0], member.ProgramDir+"/") || installer.Command[2] != member.ProgramDir {
		t.Errorf("%q installs what %q starts", installer.Command, etcd.Command)
	}
	program := mount(etcd, member.ProgramDir)
	if into := mount(installer, member.ProgramDir); !program.ReadOnly || into.ReadOnly || into.Name != program.Name {
		t.Errorf("the program is mounted as %+v, installed into %+v", program, into)
	}
	for _, m := range etcd.VolumeMounts {
		if m.Name == program.Name && !m.ReadOnly {
			t.Errorf("the program's volume is writable at %s", m.MountPath)
		}
	}
	if run := mount(etcd, member.StateDir); run.ReadOnly || run.Name == program.Name {
		t.Errorf("what each start writes goes to %+v", run)
	}
}
