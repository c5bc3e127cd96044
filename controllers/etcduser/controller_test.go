package etcduser_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrole"
	"github.com/etcdpilot/etcd-operator/controllers/etcduser"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
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
	t.Run("a password that cannot be used", e.badPassword)
	t.Run("another way to log in", e.otherLogin)
	t.Run("a role that does not exist", e.roleMissing)
	t.Run("what somebody has changed in etcd", e.drift)
	t.Run("two of one name", e.nameTaken)
	t.Run("another etcd cluster", e.restored)
	t.Run("a cluster that is paused", e.paused)
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
			{Type: v1beta2.PermissionReadWrite, Prefix: new("/app/")}, {Type: v1beta2.PermissionRead, Key: "/one"},
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

// drift wants what objects name to be corrected, and everything else to be left alone.
func (e *env) drift(t *testing.T) {
	user := e.user(t, "drifting", "", "application")
	e.says(t, user, v1beta2.ReasonApplied)
	_, err := e.etcd.UserAddWithOptions(t.Context(), "stranger", "", &clientv3.UserAddOptions{NoPassword: true})
	must(t, err)
	_, err = e.etcd.UserRevokeRole(t.Context(), "drifting", "application")
	must(t, err)
	_, err = e.etcd.UserGrantRole(t.Context(), "drifting", "early")
	must(t, err)
	e.look(t, user)
	await(t, "the roles of before", func() error { return e.granted("drifting", "application") })
	_, err = e.etcd.UserDelete(t.Context(), "drifting")
	must(t, err)
	e.look(t, user)
	await(t, "the user again", func() error { return e.granted("drifting", "application") })
	must(t, e.granted("stranger"))
}

func (e *env) nameTaken(t *testing.T) {
	first := e.user(t, "first", "", "application")
	e.says(t, first, v1beta2.ReasonApplied)
	second := &v1beta2.EtcdUser{ObjectMeta: named("second"), Spec: v1beta2.EtcdUserSpec{
		EtcdCluster: v1beta2.EtcdClusterRef{Name: clusterName}, Name: "first", ClientCertificate: &v1beta2.UserCertificate{},
	}}
	must(t, e.Create(t.Context(), second))
	older, younger := first, second
	if accounts.Older(second, first) { // created in the same second
		older, younger = second, first
		e.look(t, first)
	}
	e.says(t, younger, v1beta2.ReasonNameTaken)
	await(t, "the roles of the older one", func() error { return e.granted("first", older.Spec.Roles...) })
	must(t, e.Delete(t.Context(), older))
	e.says(t, younger, v1beta2.ReasonApplied)
	await(t, "the roles of its heir", func() error { return e.granted("first", younger.Spec.Roles...) })
}

// restored wants users to be created again in an etcd cluster that has another ID: their passwords there are those of the snapshot.
func (e *env) restored(t *testing.T) {
	user := e.read(t, "drifting")
	before := user.DeepCopy()
	user.Status.ClusterID = "1"
	must(t, e.Status().Patch(t.Context(), user, client.MergeFrom(before)))
	revision := e.revision(t)
	e.look(t, user)
	await(t, "the user in the other cluster", func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(user), user))
		if user.Status.ClusterID != e.id {
			return errors.New(user.Status.ClusterID)
		}
		return nil
	})
	if got := e.revision(t) - revision; got != 3 {
		t.Errorf("%d changes in etcd, want three: delete, create, grant", got)
	}
}

func (e *env) paused(t *testing.T) {
	e.pause(t, true)
	user := e.user(t, "late", "")
	e.says(t, user, v1beta2.ReasonPaused)
	e.pause(t, false)
	e.says(t, user, v1beta2.ReasonApplied)
}

func (e *env) pause(t *testing.T, paused bool) {
	t.Helper()
	c := &v1beta2.EtcdCluster{ObjectMeta: named(clusterName)}
	e.edit(t, c, func() { c.Spec.Paused = paused })
}

func (e *env) deletion(t *testing.T) {
	role, user := &v1beta2.EtcdRole{ObjectMeta: named("late")}, e.read(t, "waiting")
	for _, o := range []client.Object{role, user} {
		must(t, e.Delete(t.Context(), o))
		e.gone(t, o)
	}
	if _, err := e.etcd.RoleGet(t.Context(), "late"); err == nil {
		t.Error("the role is there")
	}
	if _, err := e.etcd.UserGet(t.Context(), "waiting"); err == nil {
		t.Error("the user is there")
	}
}

// clusterDeleted wants nothing to wait for an etcd that is about to go.
func (e *env) clusterDeleted(t *testing.T) {
	c := &v1beta2.EtcdCluster{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: clusterName}, c))
	c.Finalizers = []string{"test/keeps"}
	must(t, e.Update(t.Context(), c))
	must(t, e.Delete(t.Context(), c))
	user := e.read(t, "drifting")
	must(t, e.Delete(t.Context(), user))
	e.gone(t, user)
	must(t, e.granted("drifting", "application"))
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	c.Finalizers = nil
	must(t, e.Update(t.Context(), c))
	role := &v1beta2.EtcdRole{ObjectMeta: named("app")}
	must(t, e.Delete(t.Context(), role))
	e.gone(t, role)
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }

// user creates one with a password, or with a certificate if no Secret is given.
func (e *env) user(t *testing.T, name, secret string, roles ...string) *v1beta2.EtcdUser {
	t.Helper()
	user := &v1beta2.EtcdUser{ObjectMeta: named(name), Spec: v1beta2.EtcdUserSpec{
		EtcdCluster: v1beta2.EtcdClusterRef{Name: clusterName}, Roles: roles,
	}}
	if secret == "" {
		user.Spec.ClientCertificate = &v1beta2.UserCertificate{}
	} else {
		user.Spec.PasswordSecretRef = &v1beta2.SecretKeyRef{Name: secret}
	}
	must(t, e.Create(t.Context(), user))
	return user
}

func (e *env) read(t *testing.T, name string) *v1beta2.EtcdUser {
	t.Helper()
	user := &v1beta2.EtcdUser{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, user))
	return user
}

// edit changes an object, whoever else writes to it.
func (e *env) edit(t *testing.T, o client.Object, change func()) {
	t.Helper()
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	before, _ := o.DeepCopyObject().(client.Object)
	change()
	must(t, e.Patch(t.Context(), o, client.MergeFrom(before)))
}

// look has an object looked at now.
func (e *env) look(t *testing.T, o client.Object) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"look":%q}}}`, time.Now().Format(time.RFC3339Nano))
	must(t, e.Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(patch))))
}

// says waits until Ready has the reason.
func (e *env) says(t *testing.T, o client.Object, reason string) {
	t.Helper()
	await(t, o.GetName()+" says "+reason, func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		var ready *metav1.Condition
		switch o := o.(type) {
		case *v1beta2.EtcdUser:
			ready = meta.FindStatusCondition(o.Status.Conditions, v1beta2.ConditionReady)
		case *v1beta2.EtcdRole:
			ready = meta.FindStatusCondition(o.Status.Conditions, v1beta2.ConditionReady)
		}
		if ready == nil || ready.Reason != reason || (ready.Status == metav1.ConditionTrue) != (reason == v1beta2.ReasonApplied) ||
			ready.ObservedGeneration != o.GetGeneration() {
			return fmt.Errorf("it says %+v", ready)
		}
		return nil
	})
}

func (e *env) gone(t *testing.T, o client.Object) {
	t.Helper()
	await(t, o.GetName()+" is gone", func() error {
		if err := e.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%v, finalizers %v", err, o.GetFinalizers())
		}
		return nil
	})
}

// granted says how the roles of a user differ from those wanted.
func (e *env) granted(user string, want ...string) error {
	answer, err := e.etcd.UserGet(e.etcd.Ctx(), user)
	if err != nil {
		return err
	}
	if !slices.Equal(answer.Roles, want) {
		return fmt.Errorf("user %s has the roles %v, want %v", user, answer.Roles, want)
	}
	return nil
}
