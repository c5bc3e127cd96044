package stories

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/documents"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

const readme = "../README.md"

// TestReadme runs the commands of README.md, as they stand there, from the first cluster to the end of the operator. Only the storage
// is another one. No other story runs meanwhile.
func TestReadme(t *testing.T) {
	p := promptFor(t, "readme", "example")

	p.runsCluster()
	p.backsUp()
	p.uninstalls()
}

// only gives the only block of a language in a section of the README, and fails if there are others.
func (p *prompt) only(section, language string) string {
	p.t.Helper()
	blocks := blocksIn(p.t, readme, section, language)
	if len(blocks) != 1 {
		p.t.Fatalf("%s has %d blocks in %s, and the story knows one: %q", section, len(blocks), language, blocks)
	}
	return blocks[0]
}

// runsCluster makes a cluster to which clients connect as they are told to, and resizes it.
func (p *prompt) runsCluster() {
	p.t.Helper()
	p.saves("example.yaml", p.only("Run a cluster", "yaml"))
	p.runs(p.commands(readme, "Run a cluster", "apply -f example.yaml"))
	p.shows("kubectl get etcd")
	p.connects()
	if out := p.runs(p.commands(readme, "Run a cluster", "etcdctl endpoint health")); strings.Count(out, " is healthy: ") != 3 {
		p.t.Errorf("three members were to answer: %s", out)
	}
	p.client()
	p.runs(p.commands(readme, "Run a cluster", "kubectl scale"))
	must(p.t, p.Healthy(p.t.Context(), limit))
	p.settled()
	if members, err := p.Members(p.t.Context()); err != nil || len(members.Members) != 5 {
		p.t.Errorf("the cluster was to have 5 members, and has %v: %v", members, err)
	}
	p.report("while the cluster grew")
}

// shows wants a command to print the table that the README has below it: the same columns and cells, but for what varies. The status of a
// cluster on a slow disk is another one.
func (p *prompt) shows(command string) {
	p.t.Helper()
	shown, found := documents.Printed(p.readme(), command)
	want, got := strings.Split(shown, "\n"), strings.Split(strings.TrimSpace(p.runs(command)), "\n")
	if !found || len(want) != 2 || len(got) != 2 {
		p.t.Fatalf("README.md shows %q, and the command %q", want, got)
	}
	if header := strings.Fields(got[0]); !slices.Equal(header, strings.Fields(want[0])) {
		p.t.Errorf("the columns are %q, and README.md has %s", header, want[0])
	}
	stable := func(row string) []string { cells := strings.Fields(row); return cells[:len(cells)-2] }
	if cells := stable(got[1]); !slices.Equal(cells, stable(want[1])) {
		p.t.Errorf("the cells are %q, and README.md has %s", cells, want[1])
	}
}

func (p *prompt) readme() string {
	p.t.Helper()
	text, err := os.ReadFile(env.Root + "/README.md")
	must(p.t, err)
	return string(text)
}

// connects wants the address that clients are told to be the one that status has: the story's own client takes it from there.
func (p *prompt) connects() {
	p.t.Helper()
	object, err := p.Cluster.Get(p.t.Context())
	must(p.t, err)
	if len(object.Status.Endpoints) != 1 {
		p.t.Fatalf("the endpoints are %q", object.Status.Endpoints)
	}
	endpoint, err := url.Parse(object.Status.Endpoints[0])
	must(p.t, err)
	service, _, _ := strings.Cut(endpoint.Hostname(), ".")
	short := endpoint.Scheme + "://" + net.JoinHostPort(service, endpoint.Port())
	if !strings.Contains(p.readme(), "connect to `"+short+"`") {
		p.t.Errorf("README.md does not have clients connect to %s", short)
	}
}

// backsUp takes a backup, into the lab's S3 in place of Amazon's.
func (p *prompt) backsUp() {
	p.t.Helper()
	addon := p.addon(lab.MinIO)
	ca, err := os.ReadFile(addon.CAFile)
	must(p.t, err)
	p.secret(storageCA, map[string]string{"ca.crt": string(ca)})
	const amazons = "    url: s3://example-bucket/example\n    region: eu-central-1\n"
	manifest := p.only("Back it up", "yaml") + "\n"
	if !strings.Contains(manifest, amazons) {
		p.t.Fatalf("the README has another storage than the story knows:\n%s", manifest)
	}
	p.saves("backup.yaml", strings.Replace(manifest, amazons, "    url: s3://"+addon.Bucket+"/"+p.story.folder()+
		"\n    endpoint: "+addon.URL+"\n    forcePathStyle: true\n    caBundleRef: {name: "+storageCA+"}\n", 1))
	p.runs(withKeys(addon, p.commands(readme, "Back it up", "apply -f backup.yaml")))
	if taken := p.backedUp("example").Status.Snapshots; len(taken) != 1 {
		p.t.Errorf("one snapshot was to be taken: %s", inJSON(taken))
	}
}

// uninstalls deletes the operator, whose clusters go on, and brings it back.
func (p *prompt) uninstalls() {
	p.t.Helper()
	p.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
		defer cancel()
		if err := env.Deploy(ctx); err != nil {
			p.t.Error(err)
		}
	})
	p.runs(p.commands(readme, "Uninstall", "delete deployment"))
	must(p.t, harness.Await(p.t.Context(), "the operator is gone", limit, func(ctx context.Context) (string, bool) {
		pods := &corev1.PodList{}
		err := env.List(ctx, pods, client.InNamespace(harness.OperatorNamespace), client.MatchingLabels{"control-plane": "controller-manager"})
		return fmt.Sprintf("%d pods, %v", len(pods.Items), err), err == nil && len(pods.Items) == 0
	}))
	p.report("until the operator was gone")
	must(p.t, harness.Await(p.t.Context(), "the cluster serves without an operator", limit, func(ctx context.Context) (string, bool) {
		r, err := p.writer.Peek(ctx)
		if r.Lost > 0 {
			p.t.Fatalf("acknowledged writes were lost: %s", r)
		}
		return r.String(), err == nil && r.Operations > r.Failures+100
	}))
}
