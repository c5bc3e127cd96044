package etcduser_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr/testr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrole"
	"github.com/etcdpilot/etcd-operator/controllers/etcduser"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

const namespace, clusterName = "test", "c"

var must, await = controllertest.Must, controllertest.Await

// env is a real API server, and a real etcd that an EtcdCluster there says is its own.
type env struct {
	client.Client
	etcd    *clientv3.Client
	address string
	id      string
}

// TestUsersAndRoles runs both controllers under the operator's role.
func TestUsersAndRoles(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	e := &env{Client: admin}
	e.runEtcd(t)
	mgr := controllertest.NewManager(t, config)
	keeper := controllertest.KeeperOf(mgr)
	must(t, (&etcduser.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("test"), Reservations: keeper, Clock: clock.RealClock{},
	}).SetupWithManager(mgr))
	must(t, (&etcdrole.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("test"), Reservations: keeper, Clock: clock.RealClock{},
	}).SetupWithManager(mgr))
	controllertest.Start(t, mgr)

	t.Run("before there is a cluster", e.waits)
	t.Run("a role", e.role)
	t.Run("a password", e.password)
	t.Run("a Secret that was created again", e.createdAgain)
	t.Run("a password that cannot be used", e.badPassword)
	t.Run("another way to log in", e.otherLogin)
	t.Run("a role that does not exist", e.roleMissing)
	t.Run("what somebody has changed in etcd", e.drift)
	t.Run("two of one name", e.nameTaken)
	t.Run("another etcd cluster", e.restored)
	t.Run("a cluster that is paused", e.paused)
	t.Run("the operator's certificate", e.credentials)
	t.Run("the operator itself", e.self)
	t.Run("a password for whoever has a certificate", e.openToAll)
	t.Run("deletion", e.deletion)
	t.Run("deletion of the cluster", e.clusterDeleted)
}

// runEtcd runs the etcd of TEST_ASSET_ETCD where a member's pod would be.
func (e *env) runEtcd(t *testing.T) {
	t.Helper()
	e.address = controllertest.Loopback(0)
	url := "http://" + net.JoinHostPort(e.address, strconv.Itoa(member.ClientPort))
	peer := "http://" + net.JoinHostPort(e.address, "2380")
	//nolint:noctx // it ends with the test, whose context ends too early
	server := exec.Command(os.Getenv("TEST_ASSET_ETCD"), "--name=c-0", "--data-dir="+filepath.Join(t.TempDir(), "data"),
		"--listen-client-urls="+url, "--advertise-client-urls="+url, "--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer, "--initial-cluster=c-0="+peer, "--unsafe-no-fsync", "--log-level=error")
	server.Stderr = t.Output()
	must(t, server.Start())
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
	var err error
	e.etcd, err = clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { _ = e.etcd.Close() })
	await(t, "etcd", func() error {
		list, err := e.etcd.MemberList(t.Context())
		if err == nil {
			e.id = fmt.Sprintf("%016x", list.Header.ClusterId)
		}
		return err
	})
}

// waits for a cluster, and then for it to be up.
func (e *env) waits(t *testing.T) {
	role := &v1beta2.EtcdRole{ObjectMeta: named("early"), Spec: v1beta2.EtcdRoleSpec{EtcdCluster: v1beta2.EtcdClusterRef{Name: clusterName}}}
	must(t, e.Create(t.Context(), role))
	e.says(t, role, v1beta2.ReasonClusterMissing)
	if len(role.Finalizers) > 0 {
		t.Error("it has a finalizer before anything can have been written to etcd")
	}
	c := &v1beta2.EtcdCluster{ObjectMeta: named(clusterName), Spec: v1beta2.EtcdClusterSpec{Size: 1}}
	must(t, e.Create(t.Context(), c))
	e.says(t, role, v1beta2.ReasonWaitingForCluster)
	pod := &corev1.Pod{ObjectMeta: named("c-0"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Image: "etcd"}}}}
	pod.Labels = resources.ClusterSelector(clusterName)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, v1beta2.GroupVersion.WithKind("EtcdCluster"))}
	must(t, e.Create(t.Context(), pod))
	pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, e.address, []corev1.PodIP{{IP: e.address}}
	must(t, e.Status().Update(t.Context(), pod))
	c.Status.ClusterID, c.Status.MemberStatuses = e.id, []v1beta2.MemberStatus{{Name: "c-0", Role: v1beta2.MemberRoleVoter, Ready: true}}
	must(t, e.Status().Update(t.Context(), c))
	e.says(t, role, v1beta2.ReasonApplied)
	if _, err := e.etcd.RoleGet(t.Context(), "early"); err != nil {
		t.Error(err)
	}
}

func (e *env) role(t *testing.T) {
	role := &v1beta2.EtcdRole{ObjectMeta: named("app"), Spec: v1beta2.EtcdRoleSpec{
		EtcdCluster: v1beta2.EtcdClusterRef{Name: clusterName}, Name: "application",
		Permissions: []v1beta2.Permission{
			{Type: v1beta2.PermissionReadWrite, Prefix: new("/app/")},
			{Type: v1beta2.PermissionRead, Key: "/one"},
			{Type: v1beta2.PermissionWrite, Key: "/b", RangeEnd: "/c"},
		},
	}}
	must(t, e.Create(t.Context(), role))
	e.says(t, role, v1beta2.ReasonApplied)
	e.permits(t, "application", "READ /one ", "READWRITE /app/ /app0", "WRITE /b /c")
	e.edit(t, role, func() { role.Spec.Permissions = []v1beta2.Permission{{Type: v1beta2.PermissionRead, Prefix: new("")}} })
	await(t, "other permissions", func() error { return e.has("application", "READ \x00 \x00") })
	e.says(t, role, v1beta2.ReasonApplied)
}

func (e *env) permits(t *testing.T, role string, want ...string) {
	t.Helper()
	must(t, e.has(role, want...))
}

// has says how a role's permissions differ from those wanted.
func (e *env) has(role string, want ...string) error {
	answer, err := e.etcd.RoleGet(e.etcd.Ctx(), role)
	if err != nil {
		return err
	}
	var got []string
	for _, p := range answer.Perm {
		got = append(got, fmt.Sprintf("%s %s %s", p.PermType, p.Key, p.RangeEnd))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Errorf("role %s permits %q, want %q", role, got, want)
	}
	return nil
}

// labeled puts a label on the Secret of a user's password, and waits until that has been seen.
func (e *env) labeled(t *testing.T, user *v1beta2.EtcdUser, secret *corev1.Secret) {
	t.Helper()
	secret.Labels = map[string]string{"team": "a"}
	must(t, e.Update(t.Context(), secret))
	e.look(t, user)
	await(t, "the Secret's version in status", func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(user), user))
		if user.Status.Password.ResourceVersion != secret.ResourceVersion {
			return fmt.Errorf("status %+v", user.Status)
		}
		return nil
	})
}

func (e *env) password(t *testing.T) {
	user := e.user(t, "app", "app-password", "application")
	e.says(t, user, v1beta2.ReasonPasswordUnusable)
	secret := &corev1.Secret{ObjectMeta: named("app-password"), StringData: map[string]string{"password": "first"}}
	must(t, e.Create(t.Context(), secret))
	e.look(t, user)
	e.says(t, user, v1beta2.ReasonApplied)
	must(t, e.granted("app", "application"))
	if user.Status.Password == nil || user.Status.Password.ResourceVersion != secret.ResourceVersion || user.Status.Login != v1beta2.LoginPassword {
		t.Errorf("status %+v", user.Status)
	}
	revision := e.revision(t)
	e.look(t, user)
	e.says(t, user, v1beta2.ReasonApplied)
	e.labeled(t, user, secret)
	if got := e.revision(t); got != revision {
		t.Errorf("a label on the Secret changes etcd: revision %d, before %d", got, revision)
	}
	secret.StringData = map[string]string{"password": "second"}
	must(t, e.Update(t.Context(), secret))
	e.look(t, user)
	await(t, "another password", func() error {
		if user.Status.Password.ResourceVersion != secret.ResourceVersion {
			must(t, e.Get(t.Context(), client.ObjectKeyFromObject(user), user))
			return fmt.Errorf("status %+v", user.Status)
		}
		return nil
	})
	if got := e.revision(t); got != revision+1 {
		t.Errorf("%d changes in etcd, want one", got-revision)
	}
	events := &corev1.EventList{}
	must(t, e.List(t.Context(), events, client.InNamespace(namespace)))
	for _, event := range events.Items {
		if strings.Contains(event.Message, "first") || strings.Contains(event.Message, "second") {
			t.Errorf("an event holds a password: %s", event.Message)
		}
	}
}

// createdAgain wants the same password to be set once more: it is how one is put right that somebody has changed in etcd.
func (e *env) createdAgain(t *testing.T) {
	user, secret := e.read(t, "app"), &corev1.Secret{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "app-password"}, secret))
	must(t, e.Delete(t.Context(), secret))
	again := &corev1.Secret{ObjectMeta: named("app-password"), Data: secret.Data}
	must(t, e.Create(t.Context(), again))
	revision := e.revision(t)
	e.look(t, user)
	await(t, "the new Secret in status", func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(user), user))
		if user.Status.Password.UID != string(again.UID) {
			return fmt.Errorf("status %+v", user.Status)
		}
		return nil
	})
	if got := e.revision(t); got != revision+1 {
		t.Errorf("%d changes in etcd, want one", got-revision)
	}
}

// revision is that of etcd's authentication, which every change of a user or role raises.
func (e *env) revision(t *testing.T) uint64 {
	t.Helper()
	answer, err := e.etcd.AuthStatus(t.Context())
	must(t, err)
	return answer.AuthRevision
}

// badPassword wants a user to keep its password, and its roles to be changed all the same.
func (e *env) badPassword(t *testing.T) {
	user, secret := e.read(t, "app"), &corev1.Secret{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "app-password"}, secret))
	for _, password := range []string{"", strings.Repeat("x", 73)} {
		secret.Data = map[string][]byte{"password": []byte(password)}
		must(t, e.Update(t.Context(), secret))
		e.look(t, user)
		e.says(t, user, v1beta2.ReasonPasswordUnusable)
	}
	must(t, e.granted("app", "application"))
	e.edit(t, user, func() { user.Spec.Roles = nil })
	await(t, "the role to be revoked", func() error { return e.granted("app") })
	secret.Data = map[string][]byte{"password": []byte(strings.Repeat("x", 72))}
	must(t, e.Update(t.Context(), secret))
	e.look(t, user)
	e.says(t, user, v1beta2.ReasonApplied)
}

func (e *env) otherLogin(t *testing.T) {
	user := e.read(t, "app")
	e.edit(t, user, func() { user.Spec.PasswordSecretRef, user.Spec.ClientCertificate = nil, &v1beta2.UserCertificate{} })
	await(t, "a user without a password", func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(user), user))
		if user.Status.Login != v1beta2.LoginCertificate || user.Status.Password != nil {
			return fmt.Errorf("status %+v", user.Status)
		}
		return nil
	})
	e.says(t, user, v1beta2.ReasonApplied)
	e.edit(t, user, func() { user.Spec.ClientCertificate.SecretName = "app-tls" })
	e.says(t, user, v1beta2.ReasonCertificateNotIssued)
}

func (e *env) roleMissing(t *testing.T) {
	user := e.user(t, "waiting", "", "application", "late")
	e.says(t, user, v1beta2.ReasonRoleNotFound)
	must(t, e.granted("waiting", "application"))
	role := &v1beta2.EtcdRole{ObjectMeta: named("late"), Spec: v1beta2.EtcdRoleSpec{EtcdCluster: v1beta2.EtcdClusterRef{Name: clusterName}}}
	must(t, e.Create(t.Context(), role))
	e.says(t, user, v1beta2.ReasonApplied)
	must(t, e.granted("waiting", "application", "late"))
}
