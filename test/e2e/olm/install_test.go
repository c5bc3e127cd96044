package olm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestInstall installs the operator from a catalog and has it do all that it does: its rights are those that the bundle
// gives it.
func TestInstall(t *testing.T) {
	s := begin(t, "install")
	s.install(ours, this)
	c := s.cluster("life", harness.OnVolumes(3))
	c.client()
	c.kill()
	c.resize(5)
	c.resize(3)
	must(t, c.Upgrade(t.Context(), "3.7.3", limit))
	c.judge("killed, grown, shrunk and upgraded", false)
	must(t, c.writer.Stop(t.Context()))

	// The backup's volume is on one node. Members on emptyDirs can be on any.
	c = s.cluster("saved", v1beta2.EtcdClusterSpec{Size: 3})
	c.puts("before", 10)
	c.backsUp()
	c.puts("after", 5)
	c.restores()
	c.has("before", 10)
	c.has("after", 0)
	s.allowed()
}

// backsUp takes a backup into a volume.
func (c *cluster) backsUp() {
	c.s.t.Helper()
	claim, storage := harness.BackupVolume(c.Namespace, "backups")
	must(c.s.t, c.Create(c.s.t.Context(), claim))
	backup := &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name},
		Spec: v1beta2.EtcdBackupSpec{
			EtcdCluster: &v1beta2.EtcdClusterRef{Name: c.Name}, Storage: storage,
		},
	}
	must(c.s.t, c.Create(c.s.t.Context(), backup))
	c.until(backup, func() bool { return backup.Status.Succeeded && len(backup.Status.Snapshots) > 0 })
}

// restores puts it back.
func (c *cluster) restores() {
	c.s.t.Helper()
	restore := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name},
		Spec: v1beta2.EtcdRestoreSpec{
			EtcdCluster:   v1beta2.EtcdClusterRef{Name: c.Name},
			RestoreSource: v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: c.Name}},
		},
	}
	must(c.s.t, c.Create(c.s.t.Context(), restore))
	c.until(restore, func() bool { return restore.Status.Succeeded })
	c.settled()
}

// until reads an object until it is as wanted.
func (c *cluster) until(object client.Object, holds func() bool) {
	c.s.t.Helper()
	what := fmt.Sprintf("%T %s", object, object.GetName())
	must(c.s.t, harness.Await(c.s.t.Context(), what, limit, func(ctx context.Context) (string, bool) {
		err := c.s.Get(ctx, client.ObjectKeyFromObject(object), object)
		return fmt.Sprintf("%+v, %v", object, err), err == nil && holds()
	}))
}

// TestManualApproval wants nothing to happen before someone says yes, to the installation and to the update.
func TestManualApproval(t *testing.T) {
	s := begin(t, "approval")
	s.catalog("ours", older)
	s.group()
	s.subscribe(subscribed, "ours", v1alpha1.ApprovalManual)
	waits := func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval }

	plan := s.plan(previous, waits)
	csvs := &v1alpha1.ClusterServiceVersionList{}
	must(t, s.List(t.Context(), csvs, client.InNamespace(s.namespace)))
	pods, err := s.operators(t.Context())
	must(t, err)
	if len(csvs.Items) > 0 || len(pods) > 0 {
		t.Errorf("%s is not approved, and there are %d ClusterServiceVersions and %d pods", plan.Name, len(csvs.Items), len(pods))
	}
	s.approve(plan)
	s.succeeded(previous)

	s.offer("ours", ours)
	plan = s.plan(this, waits)
	s.succeeded(previous)
	s.approve(plan)
	s.succeeded(this)
}

// approve approves a plan by the commands of the document.
func (s *story) approve(plan *v1alpha1.InstallPlan) {
	s.t.Helper()
	commands, err := s.Commands("install.md", "Upgrade", "get installplan")
	must(s.t, err)
	commands = strings.NewReplacer(harness.OperatorNamespace, s.namespace, "NAME", plan.Name).Replace(commands)
	path := s.t.TempDir()
	must(s.t, os.Symlink(env.Kubectl, filepath.Join(path, "kubectl")))
	if out, err := (harness.Prompt{Folder: path, Path: path, Kubeconfig: env.Kubeconfig}).Run(s.t.Context(), commands); err != nil {
		s.t.Fatalf("these commands do not work: %v\n%s\n%s", err, commands, out)
	}
}
