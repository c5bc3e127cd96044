package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestAuth switches etcd's authentication on and off under a client with a certificate, and keeps it through an update, a lost pod, and a
// restore.
func TestAuth(t *testing.T) {
	t.Parallel()
	s := begin(t, "auth", overTLS(3))
	s.settled()
	s.allows("client")
	s.client()
	s.password("first")

	start := time.Now()
	s.authenticates(&v1beta2.AuthPolicy{Enabled: true, RootPasswordSecretRef: &v1beta2.SecretKeyRef{Name: "root"}}, v1beta2.ReasonAuthenticationOn)
	s.inFlight("authentication switched on", start)
	s.refuses("nobody")
	s.logsIn("first", "second")

	start = time.Now()
	s.password("second")
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Etcd = &v1beta2.EtcdOptions{LogLevel: "Warn"}
	}))
	must(t, s.Updated(t.Context(), limit))
	s.settled()
	s.inFlight("an edit that restarts every member, and another password", start)
	s.logsIn("second", "first")
	gone := s.pod("auth-1").UID
	must(t, s.KillPod(t.Context(), "auth-1"))
	must(t, s.Recovered(t.Context(), gone, limit))
	s.report("a pod killed")
	must(t, s.writer.Stop(t.Context()))

	s.restoresAuth()
	s.client()
	start = time.Now()
	s.authenticates(&v1beta2.AuthPolicy{}, v1beta2.ReasonAuthenticationOff)
	s.inFlight("authentication switched off", start)
	must(t, s.AskAs(t.Context(), "nobody", write))
	must(t, s.writer.Stop(t.Context()))
}

// restoresAuth backs up, and restores: here, where the operator is root, and into a cluster without certificates, where it cannot be.
func (s *story) restoresAuth() {
	s.t.Helper()
	storage := s.minio()
	s.puts("before", 20)
	s.backup("first", storage, nil)
	s.backedUp("first")
	s.puts("after", 10)
	s.restore("back", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "first"}})
	s.restored("back")
	s.healthy("restored")
	s.settled()
	s.says(v1beta2.ConditionAuthenticated, v1beta2.ReasonAuthenticationOn)
	s.has("before", 20)
	s.has("after", 0)
	s.refuses("nobody")
	s.logsIn("second", "first")

	must(s.t, env.Create(s.t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "plain"},
		Spec: v1beta2.EtcdClusterSpec{Size: 1, Version: "3.6.16", RestoreFrom: &v1beta2.RestoreSource{
			Backup: &v1beta2.EtcdBackupRef{Name: "first"},
		}},
	}))
	restore := &v1beta2.EtcdRestore{}
	s.saysWhy("plain-restore", restore, func() []metav1.Condition { return restore.Status.Conditions },
		v1beta2.ConditionRestored, v1beta2.ReasonSnapshotNeedsAuth)
	must(s.t, env.Delete(s.t.Context(), &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "plain"}}))
}

// authenticates edits spec.auth and waits until that is done.
func (s *story) authenticates(auth *v1beta2.AuthPolicy, reason string) {
	s.t.Helper()
	must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Auth = auth }))
	s.says(v1beta2.ConditionAuthenticated, reason)
	s.settled()
}

// inFlight says what the client saw since then. Requests that are under way when authentication is switched on, or a user is changed, are
// refused and not carried out: each worker has one at most.
func (s *story) inFlight(what string, since time.Time) {
	s.t.Helper()
	const workers = 7
	r, err := s.writer.Report(s.t.Context())
	must(s.t, err)
	s.t.Logf("%s in %.1f s: %s", what, time.Since(since).Seconds(), r)
	if r.Lost > 0 || r.Failures > workers || r.FailedBut(dropped, "user name is empty", "revision of auth store is old") > 0 {
		s.t.Errorf("%s: %s", what, r)
	}
}

func write(ctx context.Context, c *clientv3.Client) error {
	_, err := c.Put(ctx, "key", "value")
	return err
}

// refuses has somebody with a good certificate write, who is no user.
func (s *story) refuses(name string) {
	s.t.Helper()
	if err := s.AskAs(s.t.Context(), name, write); err == nil || !strings.Contains(err.Error(), "permission denied") && !strings.Contains(err.Error(), "user name not found") {
		s.t.Errorf("%s writes: %v", name, err)
	}
}

// logsIn waits until root's password is the first of these, and checks that it is not the second.
func (s *story) logsIn(password, former string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "root's password", rotationLimit, func(ctx context.Context) (string, bool) {
		err := s.AskWithPassword(ctx, "root", password, write)
		return fmt.Sprint(err), err == nil
	}))
	if err := s.AskWithPassword(s.t.Context(), "root", former, write); err == nil {
		s.t.Errorf("root has two passwords")
	}
}

// password writes the Secret with root's.
func (s *story) password(text string) {
	s.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "root"}, StringData: map[string]string{"password": text},
	}
	if client.IgnoreAlreadyExists(env.Create(s.t.Context(), secret)) == nil && secret.UID != "" {
		return
	}
	patch := fmt.Sprintf(`{"stringData":{"password":%q}}`, text)
	must(s.t, env.Patch(s.t.Context(), secret, client.RawPatch("application/merge-patch+json", []byte(patch))))
}

// allows makes a user who may read and write every key, and whom etcd knows by the common name of a certificate.
func (s *story) allows(name string) {
	s.t.Helper()
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, c *clientv3.Client) error {
		if _, err := c.RoleAdd(ctx, "all"); err != nil {
			return err
		}
		if _, err := c.RoleGrantPermission(ctx, "all", "\x00", "\x00", clientv3.PermissionType(clientv3.PermReadWrite)); err != nil {
			return err
		}
		if _, err := c.UserAddWithOptions(ctx, name, "", &clientv3.UserAddOptions{NoPassword: true}); err != nil {
			return err
		}
		_, err := c.UserGrantRole(ctx, name, "all")
		return err
	}))
}
