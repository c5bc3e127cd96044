package outage_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcdpilot/etcd-operator/controllers/outage"
)

// TestIs asks servers that are away, cannot answer yet, or refuse, with the client that the operator has.
func TestIs(t *testing.T) {
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  bool
	}{
		"nobody listens":         {serve: nil, want: true},
		"ends in mid-answer":     {serve: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: true},
		"not ready":              {serve: answer(http.StatusServiceUnavailable), want: true},
		"a load balancer's word": {serve: answer(http.StatusBadGateway), want: true},
		"a later version asked":  {serve: tooLarge},
		"forbidden":              {serve: answer(http.StatusForbidden)},
		"not found":              {serve: answer(http.StatusNotFound)},
		"a webhook that fails":   {serve: answer(http.StatusInternalServerError)},
		"too many requests":      {serve: answer(http.StatusTooManyRequests)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kube(t, c.serve).CoreV1().Pods("a").Get(t.Context(), "b", metav1.GetOptions{})
			if err = fmt.Errorf("read the pod: %w", err); outage.Is(err) != c.want {
				t.Errorf("%v: an outage is %v", err, outage.Is(err))
			}
		})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, canceled := kube(t, answer(http.StatusOK)).CoreV1().Pods("a").Get(ended, "b", metav1.GetOptions{})
	for _, err := range []error{nil, canceled, errors.New("etcd is not there"), context.DeadlineExceeded} {
		if outage.Is(err) {
			t.Errorf("%v is called an outage", err)
		}
	}
}

// kube is a client of a server, or of a port where nobody listens.
func kube(t *testing.T, serve http.HandlerFunc) *kubernetes.Clientset {
	t.Helper()
	server := httptest.NewServer(serve)
	if serve == nil {
		server.Close()
	} else {
		t.Cleanup(server.Close)
	}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// tooLarge is what an API server says to who asks for a state that it has not reached.
func tooLarge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusGatewayTimeout)
	_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,`+
		`"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}`)
}

func answer(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "so it is", code) }
}

// TestRetried wants an object looked at again at the same pace however long the outage, and other errors to be left alone.
func TestRetried(t *testing.T) {
	away := apierrors.NewServiceUnavailable("away")
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "c-0", errors.New("exceeded quota"))
	for _, c := range []struct {
		err, want error
		again     time.Duration
	}{{err: away, again: time.Second}, {err: refused, want: refused}, {again: time.Hour}} {
		for range 20 {
			result, err := outage.Retried(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				if c.err != nil {
					return reconcile.Result{}, c.err
				}
				return reconcile.Result{RequeueAfter: time.Hour}, nil
			})).Reconcile(t.Context(), reconcile.Request{})
			if !errors.Is(err, c.want) || result.RequeueAfter < c.again || result.RequeueAfter > 2*c.again {
				t.Errorf("%v is answered with %+v, %v", c.err, result, err)
			}
		}
	}
}

// TestStarting has an API server come back after an outage: for a while it may refuse only because it has not read its roles yet.
func TestStarting(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	rights := apierrors.NewForbidden(pods, "c-0", errors.New(`User "a" cannot create resource "pods" in API group "" in the namespace "b"`))
	synctest.Test(t, func(t *testing.T) {
		var fails error
		pass := func() (time.Duration, error) {
			result, err := outage.Retried(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, fails
			})).Reconcile(t.Context(), reconcile.Request{})
			return result.RequeueAfter, err
		}
		if fails = rights; outage.Starting(rights) {
			t.Error("an API server that was never away has just started")
		}
		hangs := &url.Error{Op: "Post", URL: "https://a", Err: context.DeadlineExceeded}
		for _, fails = range []error{hangs, apierrors.NewTimeoutError("a webhook", 0)} {
			if _, _ = pass(); outage.Starting(rights) {
				t.Errorf("%v is called an outage of the API server", fails)
			}
		}
		fails = apierrors.NewServiceUnavailable("away")
		_, _ = pass()
		time.Sleep(14 * time.Second) // in the bubble's own time
		fails = fmt.Errorf("create: %w", rights)
		if again, err := pass(); err != nil || again < time.Second || again > 2*time.Second || !outage.Starting(fails) {
			t.Errorf("soon after an outage it is tried again in %s (%v)", again, err)
		}
		if !outage.Starting(apierrors.NewForbidden(pods, "c-0", errors.New("not yet ready to handle request"))) {
			t.Error("admission control that is not ready is taken for a refusal")
		}
		for _, words := range []string{"exceeded quota: q", `ValidatingAdmissionPolicy 'p' denied request: User "a" cannot create that`} {
			if outage.Starting(apierrors.NewForbidden(pods, "c-0", errors.New(words))) {
				t.Errorf("%q is said to pass", words)
			}
		}
		time.Sleep(2 * time.Second)
		if _, err := pass(); !errors.Is(err, rights) {
			t.Errorf("long after an outage a refusal is answered with %v", err)
		}
	})
}
