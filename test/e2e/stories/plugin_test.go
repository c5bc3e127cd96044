package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	pluginreport "github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestPlugin has kubectl find its plugin, which asks all members of a cluster with TLS, and says what is missing where it may not.
func TestPlugin(t *testing.T) {
	t.Parallel()
	const name, reader = "plugin", "plugin-reader"
	must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent("story-"+name)))
	must(t, env.Namespace(t.Context(), "story-"+name))
	s := createIn(t, name, v1beta2.EtcdClusterSpec{Size: 3, TLS: &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}})
	s.healthy("created")
	plugins := buildPlugin(t)
	var seen pluginreport.Cluster
	text := s.kubectlEtcd(plugins, "status", name, "-o", "json")
	must(t, json.Unmarshal([]byte(text), &seen))
	leaders := 0
	for _, m := range seen.Members {
		if m.Problem != "" || m.Lag == nil || m.QuotaBytes == 0 || m.InUseBytes == 0 || m.FsyncSeconds <= 0 || m.Node == "" {
			t.Errorf("%s did not answer: %+v", m.Name, m)
		}
		if m.Role == "leader" {
			leaders++
		}
	}
	if len(seen.Members) != 3 || leaders != 1 || seen.ReadyVoters != 3 || seen.MayFail != 1 {
		t.Errorf("3 healthy members are reported as\n%s", text)
	}
	t.Log("\n" + s.kubectlEtcd(plugins, "status", name))
	s.pluginExamines(plugins)
	s.pluginForesees(plugins)
	s.followsPlugin(plugins)

	must(t, env.Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: reader},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdclusters"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{name + "-client"}, Verbs: []string{"get"}},
		},
	}))
	must(t, env.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: reader},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: reader},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: reader}},
	}))
	must(t, harness.Await(t.Context(), "the plugin says what its user may not do", limit, func(context.Context) (string, bool) {
		text := strings.Join(strings.Fields(s.kubectlEtcd(plugins, "status", name, "--as="+reader)), " ") // whatever its lines are
		return text, strings.Contains(text, `you may not "create" pods/portforward`) && strings.Contains(text, "3/3 ready") &&
			strings.Contains(text, "whether it is backed up is not known")
	}))
}

// pluginExamines has the doctor find nothing wrong, with the members' hashes, and packs what there is: no key of a certificate is in it.
func (s *story) pluginExamines(plugins string) {
	s.t.Helper()
	var found struct {
		Errors   int
		Findings []struct{ Check, Verdict string }
	}
	text := s.kubectlEtcd(plugins, "doctor", s.Name, "--hash", "-o", "json")
	must(s.t, json.Unmarshal([]byte(text), &found))
	good := map[string]bool{}
	for _, f := range found.Findings {
		good[f.Check] = f.Verdict == "ok" || f.Check == "disk" && f.Verdict == "warning" // how fast that is depends on the machine
	}
	for _, check := range []string{"rights", "operator", "quorum", "members", "answers", "alarms", "disk", "hashes", "certificates", "conditions"} {
		if !good[check] {
			s.t.Errorf("the doctor does not find %s good:\n%s", check, text)
		}
	}
	if found.Errors > 0 {
		s.t.Errorf("the doctor finds something wrong with a healthy cluster:\n%s", text)
	}
	s.t.Log("\n" + s.kubectlEtcd(plugins, "doctor", s.Name))

	packed := filepath.Join(s.t.TempDir(), "packed.tgz")
	s.t.Log("\n" + s.kubectlEtcd(plugins, "diagnose", s.Name, "-o", packed))
	unpack := exec.CommandContext(s.t.Context(), "tar", "-xzOf", packed)
	out, err := unpack.CombinedOutput()
	must(s.t, err)
	for _, want := range []string{"kind: EtcdCluster", "etcd_disk_wal_fsync_duration_seconds_bucket", "✓ quorum", "ready to serve client requests"} {
		if !strings.Contains(string(out), want) {
			s.t.Errorf("%q is not packed", want)
		}
	}
	if strings.Contains(string(out), "PRIVATE KEY") || strings.Contains(string(out), "kind: Secret\n") {
		s.t.Error("a Secret is packed")
	}
}

// followsPlugin runs the commands of the documents that take the plugin, and etcdctl beside it.
func (s *story) followsPlugin(plugins string) {
	s.t.Helper()
	r := s.readerWithPlugin(plugins)
	named := strings.NewReplacer(" example", " "+s.Name)
	if out := r.runs(named.Replace(s.commands("kubectl-etcd.md", "", "etcd status example", "make ", "export "))); !strings.Contains(out, "3/3 ready") {
		s.t.Errorf("of a cluster of three it says %s", out)
	}
	s.puts("/registry", 1)
	if out := r.runs(named.Replace(s.commands("kubectl-etcd.md", "Acting", "--keys-only /registry/"))); !strings.Contains(out, "/registry/000\n") {
		s.t.Errorf("etcdctl does not show the key: %s", out)
	}
	r.runs(s.commands("autopilot.md", "What is held", "kubectl etcd "))

	report := s.commands("operations.md", "To report a decision", "log-observed")
	must(s.t, harness.Await(s.t.Context(), "the operator's log has what it observes", limit, func(ctx context.Context) (string, bool) {
		out, err := r.at.Run(ctx, report)
		return fmt.Sprintf("%v: %s", err, out), err == nil
	}))
	if out := r.runs("kubectl etcd plan replay observed.log --rules"); !strings.Contains(out, s.Name) {
		s.t.Errorf("what was reported is not explained: %s", out)
	}
}

// pluginForesees has the plugin say how the cluster would grow to five members, by what the operator logs of it.
func (s *story) pluginForesees(plugins string) {
	s.t.Helper()
	s.look("foresee")
	var said struct {
		Unforeseen string
		Foreseen   struct {
			Steps []struct{ Action string }
			End   struct{ Reason string }
		}
	}
	must(s.t, harness.Await(s.t.Context(), "the operator has logged what it observes", limit, func(context.Context) (string, bool) {
		text := s.kubectlEtcd(plugins, "plan", s.Name, "--set", "size=5", "-o", "json")
		return text, json.Unmarshal([]byte(text), &said) == nil
	}))
	promoted := 0
	for _, step := range said.Foreseen.Steps {
		if step.Action == "Promote" {
			promoted++
		}
	}
	if promoted != 2 || said.Foreseen.End.Reason != v1beta2.ReasonSpecReached {
		s.t.Errorf("growth from three members to five is foreseen as %+v", said)
	}
	s.t.Log("\n" + s.kubectlEtcd(plugins, "plan", s.Name, "--set", "size=5"))
}

// kubectlEtcd runs the plugin in this folder in the story's namespace, and returns what it writes.
func (s *story) kubectlEtcd(plugins string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), env.Kubectl, append([]string{"etcd"}, args...)...)
	cmd.Args = append(cmd.Args, "--kubeconfig="+env.Kubeconfig, "--namespace="+s.Namespace)
	cmd.Env = append(os.Environ(), "PATH="+plugins+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}
