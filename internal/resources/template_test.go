package resources

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

func templated(t *testing.T, template string) *v1beta2.EtcdCluster {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(template))
	if err != nil {
		t.Fatal(err)
	}
	return cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{
			Labels: map[string]string{"team": "a"}, Template: &runtime.RawExtension{Raw: raw},
		}
	})
}

// fullTemplate has a bit of everything that a template is for.
const fullTemplate = `
metadata:
  labels: {audit: "yes"}
  annotations: {sidecar.example.com/inject: "false"}
spec:
  dnsConfig: {options: [{name: ndots, value: "1"}]}
  tolerations: null
  securityContext: {runAsUser: 1000, supplementalGroups: [7]}
  initContainers: [{name: first, image: busybox, command: ["true"]}]
  containers:
  - {name: sidecar, image: sidecar:1, volumeMounts: [{name: shared, mountPath: /shared}]}
  - name: etcd
    env: [{name: GOMEMLIMIT, value: 1GiB}]
    volumeMounts: [{name: shared, mountPath: /shared}]
    livenessProbe: {httpGet: {path: /livez, port: 2381}, failureThreshold: 10}
  volumes: [{name: shared, emptyDir: {}}]
`

func TestTemplate(t *testing.T) {
	c := templated(t, fullTemplate)
	if err := CheckTemplate(c); err != nil {
		t.Fatal(err)
	}
	golden(t, "template", build(t, c, nil, options))
}

func TestTemplateRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"{spec: {boxes: []}}", `unknown field "spec.boxes"`},
		{"{spec: {containers: [{name: e, x: 1}]}}", `unknown field "spec.containers[0].x"`},
		{"{spec: {containers: [{name: etcd, $patch: delete}]}}", `unknown field "spec.containers[0].$patch"`},
		{"{spec: {priority: high}}", "spec.priority"},
		{"{metadata: {name: x}}", "metadata: only labels and annotations"},
		{"{metadata: {labels: {app: x}}}", "the key app is the operator's own"},
		{"{metadata: {labels: {etcd.database.coreos.com/serving: x}}}", "coreos.com/serving is the operator's own"},
		{"{metadata: {annotations: {etcd.database.coreos.com/permit: x}}}", "coreos.com/permit is the operator's own"},
		{"{metadata: {labels: {app.kubernetes.io/name: x}}}", "metadata.labels[app.kubernetes.io/name] is set"},
		{"{metadata: {labels: null}}", "metadata.labels[app] is set"},
		{"{spec: {hostname: x}}", "spec.hostname is set"},
		{"{spec: {subdomain: null}}", "spec.subdomain is set"},
		{"{spec: {restartPolicy: Never}}", "spec.restartPolicy is set"},
		{"{spec: {nodeName: x}}", "spec.nodeName is set"},
		{"{spec: {terminationGracePeriodSeconds: 5}}", "spec.terminationGracePeriodSeconds (less than 30)"},
		{"{spec: {volumes: [{name: etcd-data, hostPath: {path: /}}]}}", "spec.volumes[etcd-data]"},
		{"{spec: {volumes: null}}", "spec.volumes[etcd-data]"},
		{"{spec: {containers: null}}", "spec.containers is set"},
		{"{spec: {containers: [{name: etcd, image: x}]}}", "spec.containers[etcd].image"},
		{"{spec: {containers: [{name: etcd, command: [x]}]}}", "spec.containers[etcd].command"},
		{"{spec: {containers: [{name: etcd, args: [x]}]}}", "spec.containers[etcd].args"},
		{"{spec: {containers: [{name: etcd, ports: [{containerPort: 99}]}]}}", "spec.containers[etcd].ports"},
		{"{spec: {containers: [{name: etcd, resources: {limits: {cpu: 1}}}]}}", "(use spec.pod.resources)"},
		{"{spec: {containers: [{name: etcd, env: [{name: POD_IP, value: x}]}]}}", "spec.containers[etcd].env[POD_IP]"},
		{"{spec: {containers: [{name: etcd, env: [{name: ETCD_NAME, value: x}]}]}}", "env[ETCD_NAME] (use spec.etcd)"},
		{
			"{spec: {containers: [{name: etcd, volumeMounts: [{name: x, mountPath: /var/etcd/data}]}]}}",
			"volumeMounts[/var/etcd/data]",
		},
		{"{spec: {containers: [{name: etcd, volumeMounts: [{name: x, mountPath: /var}]}]}}", "volumeMounts[/var]"},
		{
			"{spec: {containers: [{name: etcd, volumeMounts: [{name: member-run, mountPath: /run/member-run, readOnly: false}]}]}}",
			"volumeMounts[/run/member-run]",
		},
		{
			"{spec: {initContainers: [{name: install-member-run, image: x}]}}",
			"spec.initContainers[install-member-run].image",
		},
	} {
		template, want := c[0], c[1]
		err := CheckTemplate(templated(t, template))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "spec.pod.template: ") {
			t.Errorf("%s: %v, want an error with %q", template, err, want)
		}
	}
}

// TestTemplateRevision holds that what a template changes rolls, and that one that changes nothing does not.
func TestTemplateRevision(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          plan.Drift
	}{
		"nothing": {"{}", "{spec: {}}", plan.Drift{}},
		"a label": {"{}", "{metadata: {labels: {x: '1'}}}", plan.Drift{Metadata: true}},
		"the image of another container": {
			"{spec: {initContainers: [{name: x, image: 'a:1'}]}}", "{spec: {initContainers: [{name: x, image: 'a:2'}]}}",
			plan.Drift{Template: true},
		},
		"a variable": {"{}", "{spec: {containers: [{name: etcd, env: [{name: GOGC, value: '50'}]}]}}", plan.Drift{Template: true}},
	} {
		r, err := RevisionOf(templated(t, c.after), options)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Drift(build(t, templated(t, c.before), nil, options), ""); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	none := cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{Labels: map[string]string{"team": "a"}}
	})
	r, err := RevisionOf(templated(t, "{}"), options)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Drift(build(t, none, nil, options), ""); got != (plan.Drift{}) {
		t.Errorf("an empty template makes a difference: %+v", got)
	}
}

// TestTemplateSetsTheRest is about what has no field of its own.
func TestTemplateSetsTheRest(t *testing.T) {
	spec := build(t, templated(t, `{"spec": {
		"terminationGracePeriodSeconds": 60, "schedulerName": "own", "runtimeClassName": "gvisor",
		"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
		"containers": [{"name": "etcd", "imagePullPolicy": "Always"}]
	}}`), nil, options).Spec
	if spec.Containers[0].ImagePullPolicy != corev1.PullAlways || *spec.TerminationGracePeriodSeconds != 60 ||
		spec.SchedulerName != "own" || *spec.RuntimeClassName != "gvisor" || len(spec.HostAliases) != 1 {
		t.Errorf("the pod is %+v", spec)
	}
}

func TestVolumeMetadata(t *testing.T) {
	with := func(labels, annotations map[string]string) *v1beta2.EtcdCluster {
		return cluster(func(c *v1beta2.EtcdCluster) {
			c.Spec.Pod = &v1beta2.PodPolicy{
				PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{},
				VolumeLabels:              labels, VolumeAnnotations: annotations,
			}
		})
	}
	before := with(map[string]string{"backup": "daily"}, map[string]string{"note": "x"})
	claim := Volume(before, "c-0", 1)
	if claim.Labels["backup"] != "daily" || claim.Annotations["note"] != "x" || claim.Labels[LabelCluster] != "c" {
		t.Errorf("the claim is %+v", claim.ObjectMeta)
	}
	if patch := VolumeMetadataPatch(before, claim); patch != nil {
		t.Errorf("a fresh claim is patched: %v", patch)
	}
	if patch := VolumeMetadataPatch(with(nil, nil), Volume(with(nil, nil), "c-0", 1)); patch != nil {
		t.Errorf("a plain claim is patched: %v", patch)
	}
	got := encode(VolumeMetadataPatch(with(map[string]string{"team": "a"}, nil), claim))
	const want = `{"annotations":{"etcd.database.coreos.com/metadata":"{\"labels\":{\"team\":\"a\"}}","note":null},` +
		`"labels":{"backup":null,"team":"a"}}`
	if got != want {
		t.Errorf("patch %s, want %s", got, want)
	}
}
