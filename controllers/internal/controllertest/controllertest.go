// Package controllertest is what the controllers' tests share: the operator's own rights and caches on a real API server.
package controllertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/objectcache"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/task"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// InstallRoles applies what config/default grants, and nothing else of it.
func InstallRoles(t *testing.T, admin client.Client) {
	t.Helper()
	Install(t, admin, "Namespace", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
}

func mustJSON(t *testing.T, marshal func() ([]byte, error)) string {
	t.Helper()
	text, err := marshal()
	Must(t, err)
	return string(text)
}

// AsOperator is what the operator may do.
func AsOperator(config *rest.Config) *rest.Config {
	own := rest.CopyConfig(config)
	own.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:etcd-operator-system:etcd-operator-controller-manager",
		Groups:   []string{"system:serviceaccounts", "system:authenticated"},
	}
	return own
}

// NewManager has the role and the caches of the operator, of all namespaces or of some.
func NewManager(t *testing.T, config *rest.Config, namespaces ...string) ctrl.Manager {
	t.Helper()
	again := true // several tests start the same controllers
	options := ctrl.Options{
		Controller: ctrlconfig.Controller{SkipNameValidation: &again},
		Scheme:     testenv.Scheme(t), Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			ByObject: objectcache.Cached(), DefaultNamespaces: map[string]cache.Config{}, NewInformer: outage.NewInformer,
		},
	}
	for _, name := range namespaces {
		options.Cache.DefaultNamespaces[name] = cache.Config{}
	}
	mgr, err := ctrl.NewManager(AsOperator(config), options)
	Must(t, err)
	return mgr
}

// Start runs controllers until the test ends.
func Start(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the operator exited with %v", err)
		}
	})
}

// Await fails the test if something does not hold within a minute. The function says why it does not, nil if it does.
func Await(t *testing.T, what string, holds func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) {
			last = holds()
			return last == nil, nil
		})
	if err != nil {
		t.Fatalf("%s: %v", what, last)
	}
}

// Must fails the test at an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Install applies the objects of some kinds of config/default, one kind after the other: a Role needs its namespace.
func Install(t *testing.T, admin client.Client, kinds ...string) {
	t.Helper()
	manifests := testenv.Build(t, "config/default").Resources()
	for _, kind := range kinds {
		for _, manifest := range manifests {
			if manifest.GetKind() == kind {
				object := &unstructured.Unstructured{}
				Must(t, object.UnmarshalJSON([]byte(mustJSON(t, manifest.MarshalJSON))))
				Must(t, admin.Create(t.Context(), object))
			}
		}
	}
}

// Loopback is an address of this process's own: the port is etcd's, and others may test here too.
func Loopback(i int) string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 64+(pid>>8)%64, pid%256, i+1)
}

// TaskOf is what a pod was asked.
func TaskOf(t *testing.T, pod *corev1.Pod) task.Task {
	t.Helper()
	return TaskIn(t, pod.Spec.Containers[0])
}

// TaskIn is what a container was asked.
func TaskIn(t *testing.T, container corev1.Container) task.Task {
	t.Helper()
	found := task.Task{}
	for _, e := range container.Env {
		if e.Name == task.EnvTask {
			Must(t, json.Unmarshal([]byte(e.Value), &found))
		}
	}
	return found
}

// SnapshotOf is what an agent says of a good snapshot.
func SnapshotOf(name string) *v1beta2.SnapshotStatus {
	return &v1beta2.SnapshotStatus{
		Name: name, URL: "s3://bucket/prefix/" + name, Revision: 7, EtcdVersion: "3.6.4", SizeBytes: 4096, StoredSizeBytes: 1024,
		SHA256: strings.Repeat("ab", 32), CreationTime: metav1.Now().Rfc3339Copy(),
	}
}

// Trimmed is a copy of an object as the operator's cache holds it.
func Trimmed[T client.Object](t *testing.T, whole T) T {
	t.Helper()
	for kind, options := range objectcache.Cached() {
		if reflect.TypeOf(kind) != reflect.TypeOf(whole) {
			continue
		}
		small, err := options.Transform(whole.DeepCopyObject())
		Must(t, err)
		typed, ok := small.(T)
		if !ok {
			t.Fatalf("%T becomes %T", whole, small)
		}
		return typed
	}
	t.Fatalf("%T is not cached in a way of its own", whole)
	return whole
}
