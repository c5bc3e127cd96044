package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestRefusalsOfARealAPIServer wants the real answers to be taken for what they are.
func TestRefusalsOfARealAPIServer(t *testing.T) {
	ctrl.SetLogger(zap.New()) // without one for 30 s there is none for the other tests, either
	config := testenv.Start(t)
	a := &refuser{testenv.Client(t, config), config}
	a.policies(t)
	a.webhooks(t)
	a.quota(t)
	for title, c := range map[string]struct {
		do    func(*testing.T) error
		code  int32
		words string
		want  bool
	}{
		"quota": {a.creates("quota", ""), http.StatusForbidden, "exceeded quota", true},
		"limit range": {func(t *testing.T) error {
			return a.Create(t.Context(), cpuPod("limits", "", "2"))
		}, http.StatusForbidden, "maximum cpu usage per Container", true},
		"pod security":                 {a.creates("restricted", ""), http.StatusForbidden, "violates PodSecurity", true},
		"policy":                       {a.creates("default", "policy"), http.StatusUnprocessableEntity, "denied request", true},
		"webhook":                      {a.creates("default", "webhook"), http.StatusBadRequest, "denied the request", true},
		"webhook with a code":          {a.creates("default", "conflict"), http.StatusConflict, "denied the request", true},
		"webhook that is not there":    {a.creates("default", "gone"), http.StatusInternalServerError, "failed calling webhook", true},
		"webhook that is broken":       {a.creates("default", "broken"), http.StatusInternalServerError, "failed calling webhook", true},
		"webhook that takes too long":  {a.creates("default", "slow"), http.StatusInternalServerError, "failed calling webhook", true},
		"rights":                       {a.createsAs("nobody"), http.StatusForbidden, "cannot create resource", true},
		"validation":                   {a.createsInvalid, http.StatusUnprocessableEntity, "invalid", true},
		"namespace that is deleted":    {a.createsInTerminating, http.StatusForbidden, "because it is being terminated", false},
		"namespace that is not there":  {a.creates("nowhere", ""), http.StatusNotFound, "not found", false},
		"there already":                {a.createsTwice, http.StatusConflict, "already exists", false},
		"a class that does not expand": {a.expands("fixed"), http.StatusForbidden, "must support resize", true},
		"a claim that is not bound":    {a.expands(""), http.StatusUnprocessableEntity, "for bound claims", true},
	} {
		t.Run(title, func(t *testing.T) {
			err := c.do(t)
			answer := apierrors.APIStatus(nil)
			if !errors.As(err, &answer) || answer.Status().Code != c.code || !strings.Contains(err.Error(), c.words) {
				t.Fatalf("the answer is %v, want %d with %q", err, c.code, c.words)
			}
			if got := refused(err); got != c.want {
				t.Errorf("refused is %v: %v", got, err)
			}
		})
	}
	t.Run("webhook that hangs", a.hangs)
	t.Run("no API server", a.silent)
	t.Run("resize", a.resizes)
}

func cpuPod(namespace, label, cpu string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "p-", Labels: map[string]string{"refused": label}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Resources: cpus(cpu)}}},
	}
	return pod
}

func (a *refuser) creates(namespace, label string) func(*testing.T) error {
	return func(t *testing.T) error { return a.Create(t.Context(), cpuPod(namespace, label, "1")) }
}

func (a *refuser) createsAs(user string) func(*testing.T) error {
	return func(t *testing.T) error {
		config := rest.CopyConfig(a.config)
		config.Impersonate.UserName = user
		return testenv.Client(t, config).Create(t.Context(), cpuPod("default", "", "1"))
	}
}

func (a *refuser) createsInvalid(t *testing.T) error {
	pod := cpuPod("default", "", "1")
	pod.Spec.Containers[0].Name = "?"
	return a.Create(t.Context(), pod)
}

func (a *refuser) createsInTerminating(t *testing.T) error {
	namespace := a.namespace(t, "going", nil)
	must(t, a.Delete(t.Context(), namespace))
	var err error
	controllertest.Await(t, "the end of the namespace", func() error {
		if err = a.Create(t.Context(), cpuPod("going", "", "1")); err == nil {
			return errors.New("a pod is created")
		}
		return nil
	})
	return err
}

func (a *refuser) createsTwice(t *testing.T) error {
	pod := cpuPod("default", "", "1")
	must(t, a.Create(t.Context(), pod))
	pod.ResourceVersion = ""
	return a.Create(t.Context(), pod)
}

func (a *refuser) expands(class string) func(*testing.T) error {
	return func(t *testing.T) error {
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "c-"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}
		must(t, a.Create(t.Context(), claim))
		if class != "" {
			must(t, client.IgnoreAlreadyExists(a.Create(t.Context(), &storagev1.StorageClass{
				ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "example.com/p",
			})))
			claim.Spec.VolumeName = "v"
			must(t, a.Update(t.Context(), claim))
			claim.Status.Phase = corev1.ClaimBound
			must(t, a.Status().Update(t.Context(), claim))
		}
		const more = `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`
		return a.Patch(t.Context(), claim, client.RawPatch(types.MergePatchType, []byte(more)))
	}
}

// hangs has a webhook take longer than the pass: the API server answers reads, so it is that write.
func (a *refuser) hangs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	err := a.Create(ctx, cpuPod("default", "hangs", "1"))
	r := &Reconciler{Live: a.Client}
	p := &pass{cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}}
	if message, refused := r.refusalOf(ctx, p, fmt.Errorf("create: %w", err)); !refused || message != noAnswer {
		t.Errorf("refused is %v, %q: %v", refused, message, err)
	}
	if r.unanswered(ctx, p, &url.Error{Op: "Get", Err: context.DeadlineExceeded}) {
		t.Error("a read is taken for a write")
	}
	if !r.unanswered(ctx, p, context.DeadlineExceeded) {
		t.Error("a write that client-go has tried again until the end is not taken for one")
	}
}

// silent has an API server that takes connections and answers nothing, and one that takes none.
func (a *refuser) silent(t *testing.T) {
	quiet := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client is gone
		<-r.Context().Done()
	}))
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	p := &pass{cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}}
	for _, host := range []string{quiet.URL, away.URL} {
		api, err := client.New(&rest.Config{Host: host}, client.Options{Scheme: testenv.Scheme(t), Mapper: a.RESTMapper()})
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		err = api.Create(ctx, cpuPod("default", "", "1"))
		if message, refused := (&Reconciler{Live: api}).refusalOf(ctx, p, err); refused || !outage.Is(err) {
			t.Errorf("refused is %v, %q: %v", refused, message, err)
		}
		if request := (*url.Error)(nil); !errors.As(err, &request) || request.Op != "Post" {
			t.Errorf("the error is %T: %v", err, err)
		}
		cancel()
	}
	quiet.Close()
}

// resizes a pod to what it cannot be, to what its node does not have, and to what a quota does not allow.
func (a *refuser) resizes(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	must(t, a.Create(t.Context(), node))
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("4Gi")}
	must(t, a.Status().Update(t.Context(), node))
	pods := map[string]*corev1.Pod{}
	for _, namespace := range []string{"default", "limits"} {
		pod := cpuPod(namespace, "", "1")
		pod.Spec.NodeName = "n"
		pod.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory] = resource.MustParse("1Gi") // requests are the same list
		must(t, a.Create(t.Context(), pod))
		pods[namespace] = pod
	}
	for title, c := range map[string]struct {
		namespace, requests, limits string
		fixed                       bool
		since                       string
	}{
		"another quality of service": {"default", "1", "2", true, "1.33"},
		"a node that is too small":   {"default", "8", "8", true, "1.36"},
		"a limit range":              {"limits", "2", "2", false, "1.33"},
	} {
		patch := fmt.Sprintf(`{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":%q},"limits":{"cpu":%q}}}]}}`, c.requests, c.limits)
		err := a.SubResource("resize").Patch(t.Context(), pods[c.namespace].DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(patch)))
		if serverVersion(t, a.config).LessThan(version.MustParseGeneric(c.since)) {
			must(t, err) // then it is the kubelet that says so
			continue
		}
		if !refused(err) || fixed(err) != c.fixed {
			t.Errorf("%s: refused %v, fixed %v: %v", title, refused(err), fixed(err), err)
		}
	}
}
