package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/rights"
)

// everything sets all values that the chart has. What is in angle brackets depends on the release and on the lab.
const everything = `
image: {repository: "<repository>", tag: none, digest: "<digest>", pullPolicy: Always}
imagePullSecrets: [{name: mirror}]
watchNamespaces: [install-busy, install-idle]
allNamespaces: false
replicas: 2
resources: {requests: {cpu: 100m, memory: 192Mi}, limits: {cpu: "1", memory: 640Mi}}
nodeSelector: {install-values: here}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: ["<second>"]}]}]
tolerations: [{key: install-values, operator: Exists, effect: NoSchedule}]
priorityClassName: install-values
podLabels: {team: storage}
podAnnotations: {note: first}
env: [{name: AUTOPILOT, value: Advise}, {name: ETCD_REPOSITORY, value: mirror.example.com/coreos/etcd}]
logLevel: debug
monitoring: cert-manager
networkPolicy: {enabled: true}
crds: {enabled: true}
`

// others are for an upgrade. What they do not name is to stay.
const others = `
watchNamespaces: [install-busy, install-idle, install-outside]
replicas: 1
resources: {requests: {cpu: 200m, memory: 224Mi}, limits: {cpu: "2", memory: 704Mi}}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: ["<first>"]}]}]
tolerations: []
podAnnotations: {note: second}
env: [{name: AUTOPILOT, value: "Off"}, {name: ETCD_REPOSITORY, value: mirror.example.com/coreos/etcd}]
logLevel: info
monitoring: ""
networkPolicy: {enabled: false}
crds: {enabled: false}
`

// valued is a story of an operator that was installed with values.
type valued struct {
	*story
	// first and second are the nodes that the values select; nobody is scheduled to the first who does not tolerate its taint.
	first, second string
	// repository and digest are what the values call the operator's image.
	repository, digest string
	fence              fence
}

// TestHelmValues installs a release by its chart with a file that has every value, and looks for what each does: at the operator's pods and
// their nodes, at what the operator asks of Kubernetes, from a pod that passes by, and in Prometheus. An upgrade to other values restarts no
// member, and the clusters of a namespace that is watched from then on are served.
func TestHelmValues(t *testing.T) {
	v := newValued(t)
	to, since := v.pulls(next), time.Now()
	first := v.file(everything)
	v.complete(to, first)
	v.installs(next, to, "--values", first)
	v.leadsAs(v.named(), next, 2)
	v.runs(operators{replicas: 2, node: v.first, note: "first", cpu: "100m", memory: "192Mi", mostCPU: "1", mostMemory: "640Mi", tolerates: true})
	v.isMonitored()
	v.isFenced()

	outside := v.cluster("install-outside", "outside", v1beta2.EtcdClusterSpec{Size: 1})
	c := v.clusters("install-busy", "install-idle")
	v.leavesAlone(outside, since)
	v.told(c, v1beta2.AutopilotAdvise)
	v.logs(true)
	v.mirrors(c)

	crds := v.crds()
	c.through("upgraded to other values", func() {
		v.types(next, to, v.commands("install.md", "Upgrade", "helm upgrade")+" --values "+v.file(others))
		v.leadsAs(v.named(), next, 1)
		v.runs(operators{replicas: 1, node: v.second, note: "second", cpu: "200m", memory: "224Mi", mostCPU: "2", mostMemory: "704Mi"})
		v.told(c, v1beta2.AutopilotOff)
		must(t, outside.Healthy(t.Context(), limit))
		c.asks(3)
		c.settled()
	})
	v.sameCRDs("upgraded without the CRDs", crds)
	v.isMonitoredNoMore()
	v.isOpen()
	v.mirrors(c)
	v.logs(false)
	v.allowed()
}

// newValued prepares what the values name, and starts what they have an effect on: Prometheus, cert-manager, and what enforces NetworkPolicies.
func newValued(t *testing.T) *valued {
	t.Helper()
	v := &valued{story: begin(t)}
	image := v.image(next)
	repository, digest, found := strings.Cut(image, "@")
	_, path, is := strings.Cut(repository, "/")
	if !found || !is {
		t.Fatalf("the image of a release is %s, and has no registry or no digest", image)
	}
	v.repository, v.digest = "mirror.example.com/"+path, digest
	for _, name := range []string{"install-busy", "install-idle", "install-outside", "install-passerby"} {
		v.namespace(name)
		must(t, v.Namespace(t.Context(), name))
	}
	v.prepare()
	v.fence = newFence(v.story)
	return v
}

// named is the operator's image by the values.
func (v *valued) named() string { return v.repository + "@" + v.digest }

// file is one with values.
func (v *valued) file(values string) (name string) {
	v.t.Helper()
	name = filepath.Join(v.t.TempDir(), "values.yaml")
	text := strings.NewReplacer("<repository>", v.repository, "<digest>", v.digest, "<first>", v.first, "<second>", v.second).Replace(values)
	must(v.t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// complete wants a file to set every value that the chart has: what is added there is to be looked for here.
func (v *valued) complete(folder, file string) {
	v.t.Helper()
	shown := v.types(next, folder, "helm show values dist/etcd-operator-"+next.Version+".tgz")
	text, err := os.ReadFile(file)
	must(v.t, err)
	var chart, given map[string]any
	must(v.t, yaml.Unmarshal([]byte(shown), &chart))
	must(v.t, yaml.Unmarshal(text, &given))
	if len(chart) < 15 {
		v.t.Errorf("the chart has only the values %v", chart)
	}
	for name, value := range chart {
		if _, set := given[name]; !set {
			v.t.Errorf("%s is not set", name)
		}
		of, _ := given[name].(map[string]any)
		for part := range asMap(value) {
			if _, set := of[part]; !set && !slices.Contains([]string{"affinity", "resources"}, name) { // as in a pod
				v.t.Errorf("%s.%s is not set", name, part)
			}
		}
	}
}

func asMap(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}

// leavesAlone wants the operator to have no rights outside of the namespaces that it watches, nor to have asked for anything there, and a
// cluster there to be as it was created, before those that are served.
func (v *valued) leavesAlone(outside *harness.Cluster, since time.Time) {
	v.t.Helper()
	must(v.t, outside.Untouched(v.t.Context()))
	for namespace, want := range map[string]bool{"": false, outside.Namespace: false, "install-busy": true, "install-idle": true} {
		for _, asked := range []authorizationv1.ResourceAttributes{
			{Verb: "create", Resource: "pods"}, {Verb: "get", Resource: "secrets"}, {Verb: "list", Group: v1beta2.GroupVersion.Group, Resource: "etcdclusters"},
		} {
			asked.Namespace = namespace
			if may, err := v.OperatorMay(v.t.Context(), asked); err != nil || may != want {
				v.t.Errorf("that it may %s %s in %q is %t, %v", asked.Verb, asked.Resource, namespace, may, err)
			}
		}
	}
	files, err := nodes.AuditLogs()
	must(v.t, err)
	asked, err := rights.Outside(files, since, "install-busy", "install-idle", harness.OperatorNamespace)
	must(v.t, err)
	for _, r := range asked {
		v.t.Errorf("it asks to %s", r)
	}
}

// told waits until both clusters say how far the operator lets Auto Pilot go.
func (v *valued) told(c *clusters, want v1beta2.AutopilotMode) {
	v.t.Helper()
	for _, one := range []*harness.Cluster{c.busy, c.idle} {
		must(v.t, harness.Await(v.t.Context(), fmt.Sprintf("Auto Pilot is %s for %s", want, one.Name), limit, func(ctx context.Context) (string, bool) {
			object, err := one.Get(ctx)
			if err != nil || object.Status.Autopilot == nil {
				return fmt.Sprintf("it says nothing of it, %v", err), false
			}
			return string(object.Status.Autopilot.OperatorMode), object.Status.Autopilot.OperatorMode == want
		}))
	}
}

// logs wants the operator to log at the level debug, or not to. It has told of events by now, each of which is a line at that level.
func (v *valued) logs(debug bool) {
	v.t.Helper()
	said, err := v.OperatorLogs(v.t.Context(), harness.OperatorNamespace)
	must(v.t, err)
	if got := strings.Contains(said, `"level":"debug"`); got != debug {
		v.t.Errorf("that it logs at the level debug is %t, want %t", got, debug)
	}
}

// mirrors wants all that members run to be by the names that the values have: etcd, and what they take from the operator's image.
func (v *valued) mirrors(c *clusters) {
	v.t.Helper()
	for _, one := range []*harness.Cluster{c.busy, c.idle} {
		pods, err := one.Pods(v.t.Context())
		must(v.t, err)
		for _, p := range pods {
			etcd, init := p.Spec.Containers[0].Image, p.Spec.InitContainers[0].Image
			if !strings.HasPrefix(etcd, "mirror.example.com/coreos/etcd:v") || init != v.named() {
				v.t.Errorf("%s runs %s, and %s before it", p.Name, etcd, init)
			}
		}
	}
}
