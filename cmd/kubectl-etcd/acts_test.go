package main

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// plugin runs the program against an API server.
type plugin struct {
	client.Client
	t          *testing.T
	kubeconfig string
}

// screen is what a run has said so far.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.text.String(), "\n", " ")
}

// run is one run of the program, and what it says.
func (p *plugin) run(args ...string) (string, error) {
	out := &screen{}
	err := p.runOn(out, args...)
	return out.String(), err
}

func (p *plugin) runOn(out *screen, args ...string) error {
	root := newCommand(genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: out})
	root.SetArgs(append(args, "--kubeconfig="+p.kubeconfig))
	return root.ExecuteContext(p.t.Context())
}

// says checks that a run succeeds and says something.
func (p *plugin) says(want string, args ...string) {
	p.t.Helper()
	if text, err := p.run(args...); err != nil || !strings.Contains(text, want) {
		p.t.Errorf("%v: %v\n%s", args, err, text)
	}
}

// refuses checks that a run fails, for this reason.
func (p *plugin) refuses(want string, args ...string) {
	p.t.Helper()
	if text, err := p.run(args...); err == nil || !strings.Contains(err.Error(), want) {
		p.t.Errorf("%v: %v\n%s", args, err, text)
	}
}

// TestActs has the commands that create objects do so on a real API server, on which no operator runs, and no etcd.
func TestActs(t *testing.T) {
	config := testenv.Start(t)
	p := &plugin{Client: testenv.Client(t, config), t: t, kubeconfig: kubeconfig(t, config)}
	for _, act := range [][]string{
		{"status", "demo"},
		{"doctor", "demo"},
		{"plan", "demo"},
		{"diagnose", "demo"},
		{"move-leader", "demo"},
		{"defrag", "demo", "--all"},
		{"promote", "demo", "demo-3"},
		{"ctl", "demo", "--", "get", "key"},
		{"backup", "now", "demo"},
		{"restore", "demo", "--from", "nightly"},
	} {
		want := "namespace default has no EtcdClusters"
		if act[0] == "ctl" {
			t.Setenv("PATH", t.TempDir())
			want = "etcdctl is not in PATH"
		}
		p.refuses(want, act...)
	}
	cluster := &v1beta2.EtcdCluster{ObjectMeta: meta("demo"), Spec: v1beta2.EtcdClusterSpec{Size: 3}}
	must(t, p.Create(t.Context(), cluster))
	cluster.Status.Size = 3
	must(t, p.Status().Update(t.Context(), cluster))
	p.refuses("demo has not been up yet", "move-leader", "demo")
	p.refuses("demo has not been up yet", "promote", "demo", "demo-3")
	p.refuses("demo has not been up yet", "defrag", "demo", "--all")
	p.refuses("no operator has marked demo as its own", "plan", "demo")
	p.refuses("choose one of these, or another namespace with -n", "status", "dem")
	p.says("demo  no members yet", "status", "demo")
	for _, look := range []string{"status", "doctor", "plan", "diagnose", "move-leader"} {
		p.refuses("read EtcdCluster demo: etcdclusters.etcd.database.coreos.com \"demo\" is forbidden", look, "demo", "--as=nobody")
	}
	p.refuses("connection refused", "status", "demo", "--server=https://127.0.0.1:1")
	p.refuses("say which member", "defrag", "demo")
	p.refuses("demo has no EtcdBackup whose storage", "backup", "now", "demo")
	p.refuses("no EtcdBackup of namespace default backs up demo", "backup", "list", "demo")
	p.refuses("the namespace has no EtcdBackup", "restore", "demo", "--from", "nightly", "--yes")

	must(t, p.Create(t.Context(), &v1beta2.EtcdBackup{ObjectMeta: meta("nightly"), Spec: v1beta2.EtcdBackupSpec{
		EtcdCluster: &v1beta2.EtcdClusterRef{Name: "demo"}, Schedule: "@daily", Verify: v1beta2.VerifyRestore,
		Storage: &v1beta2.Storage{URL: "s3://b/demo", CredentialsSecretRef: v1beta2.SecretRef{Name: "storage"}},
	}}))
	t.Run("backup", func(t *testing.T) { (&plugin{p.Client, t, p.kubeconfig}).backsUp() })
	t.Run("restore", func(t *testing.T) { (&plugin{p.Client, t, p.kubeconfig}).restores() })
	t.Run("operator down", func(t *testing.T) { (&plugin{p.Client, t, p.kubeconfig}).findsNoOperator(cluster) })
	t.Run("doctor", func(t *testing.T) { (&plugin{p.Client, t, p.kubeconfig}).takesSecret(cluster) })
}

// takesSecret has the doctor talk to a member with the Secret that it is given.
func (p *plugin) takesSecret(cluster *v1beta2.EtcdCluster) {
	pod := &corev1.Pod{ObjectMeta: meta("demo-0")}
	pod.Labels = resources.ClusterSelector("demo")
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1beta2.GroupVersion.String(), Kind: "EtcdCluster", Name: "demo", UID: cluster.UID, Controller: new(true),
	}}
	const config = `{"name":"demo-0","peerURL":"https://p","clientURL":"https://c","dataDir":"/d","transport":{"clientTLS":true}}`
	pod.Spec.Containers = []corev1.Container{{
		Name: resources.EtcdContainer, Image: "etcd", Env: []corev1.EnvVar{{Name: member.EnvConfig, Value: config}},
	}}
	must(p.t, p.Create(p.t.Context(), pod))
	cluster.Status.MemberStatuses = []v1beta2.MemberStatus{{Name: "demo-0", ID: "a", Role: v1beta2.MemberRoleVoter}}
	must(p.t, p.Status().Update(p.t.Context(), cluster))
	if text, _ := p.run("doctor", "demo", "--secret", "of-root", "-o", "json"); !strings.Contains(text, "in the Secret of-root") {
		p.t.Errorf("it says %s", text)
	}
}

func (p *plugin) backsUp() {
	p.says("Nothing was changed", "backup", "now", "demo", "--dry-run")
	p.refuses("cannot get resource", "backup", "now", "demo", "--as=nobody")
	if n := len(p.backups()); n != 1 {
		p.t.Errorf("a dry run, and somebody without rights, have made %d", n-1)
	}
	out, done := &screen{}, make(chan error, 1)
	go func() { done <- p.runOn(out, "backup", "now", "demo", "--wait") }()
	made := p.created()
	if s := made.Spec; s.Schedule != "" || s.Storage.CredentialsSecretRef.Name != "storage" || s.Verify != v1beta2.VerifyRestore ||
		!strings.HasPrefix(made.Name, "demo-now-") {
		p.t.Errorf("it is %+v", made)
	}
	p.condition(made, v1beta2.ConditionProgressing, "BackingUp", "Saving, 120Mi so far")
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for !strings.Contains(out.String(), "BackingUp: ") {
		must(p.t, ctx.Err())
		time.Sleep(10 * time.Millisecond)
	}
	made.Status.Snapshots = []v1beta2.SnapshotStatus{{
		Name: "7.db", URL: "s3://b/demo/7.db", Revision: 7, EtcdVersion: "3.6.16", SHA256: "x", StoredSizeBytes: 388 << 20, Verification: v1beta2.VerifyChecksum,
	}}
	p.condition(made, v1beta2.ConditionBackedUp, "BackedUp", "taken")
	must(p.t, <-done)
	documented.Alike(p.t, "kubectl etcd backup now demo --wait", out.String())
	p.says("7.db", "backup", "list", "demo")
	p.says(`"revision": 7`, "backup", "list", "demo", "-o", "json")
	p.refuses("-o table is not known", "backup", "list", "demo", "-o", "table")
}

func (p *plugin) restores() {
	p.refuses("give --yes", "restore", "demo", "--from", "nightly")
	p.refuses("is no time", "restore", "demo", "--from", "nightly", "--before", "noon")
	p.says("Nothing was changed", "restore", "demo", "--from", "7.db", "--dry-run")
	list := &v1beta2.EtcdRestoreList{}
	must(p.t, p.List(p.t.Context(), list))
	if len(list.Items) != 0 {
		p.t.Errorf("without a confirmation there is %+v", list.Items)
	}
	p.says("/demo, in ", "restore", "demo", "--from", "7.db", "--yes")
	must(p.t, p.List(p.t.Context(), list))
	if len(list.Items) != 1 || list.Items[0].Spec.Snapshot != "7.db" || !strings.HasPrefix(list.Items[0].Spec.Backup.Name, "demo-now-") {
		p.t.Errorf("there is %+v", list.Items)
	}
	p.documentsRestore()
}

// condition sets a condition of an EtcdBackup.
func (p *plugin) condition(b *v1beta2.EtcdBackup, kind, reason, message string) {
	b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: metav1.Now(),
	})
	must(p.t, p.Status().Update(p.t.Context(), b))
}

// documentsRestore compares what is said of a restore of the latest backup with the document.
func (p *plugin) documentsRestore() {
	nightly := &v1beta2.EtcdBackup{}
	must(p.t, p.Get(p.t.Context(), client.ObjectKey{Namespace: "default", Name: "nightly"}, nightly))
	nightly.Status.Snapshots = []v1beta2.SnapshotStatus{{
		Name: "81223.db", URL: "s3://b/demo/81223.db", Revision: 81223, EtcdVersion: "3.6.16", SHA256: "x", SizeBytes: 800 << 20,
		CreationTime: metav1.NewTime(time.Now().Add(-6 * time.Hour)),
	}}
	must(p.t, p.Status().Update(p.t.Context(), nightly))
	text, err := p.run("restore", "demo", "--from", "nightly", "--yes")
	must(p.t, err)
	documented.Alike(p.t, "kubectl etcd restore demo --from nightly --yes", text)
}

// findsNoOperator says that nothing acts, and fails, although the objects are there.
func (p *plugin) findsNoOperator(cluster *v1beta2.EtcdCluster) {
	name, holder, renewed := "etcd-operator.etcd.database.coreos.com", "a", metav1.NewMicroTime(time.Now().Add(-time.Hour))
	must(p.t, p.Create(p.t.Context(), &coordinationv1.Lease{
		ObjectMeta: meta(name), Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed},
	}))
	cluster.Status.Operator = &v1beta2.OperatorReference{Namespace: "default", Lease: name}
	must(p.t, p.Status().Update(p.t.Context(), cluster))
	p.refuses("the backup is not taken yet", "backup", "now", "demo")
	p.refuses("read the operator's log", "plan", "demo")
	p.refuses("the data are not restored yet", "restore", "demo", "--from", "nightly", "--yes")
	if text, _ := p.run("backup", "now", "demo"); !strings.Contains(text, "has not been heard of since") {
		p.t.Errorf("it says %s", text)
	}
}

func (p *plugin) backups() []v1beta2.EtcdBackup {
	list := &v1beta2.EtcdBackupList{}
	must(p.t, p.List(p.t.Context(), list))
	return list.Items
}

// created waits for an EtcdBackup beside the first one.
func (p *plugin) created() *v1beta2.EtcdBackup {
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for {
		for _, b := range p.backups() {
			if b.Name != "nightly" {
				return &b
			}
		}
		must(p.t, ctx.Err())
	}
}

// kubeconfig is a file that says how to reach the API server.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://" + strings.TrimPrefix(config.Host, "https://"), CertificateAuthorityData: config.CAData}
	c.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u", Namespace: "default"}
	c.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*c, path))
	return path
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
