package etcdcluster

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

var (
	someCluster = types.NamespacedName{Namespace: "ns", Name: "one"}
	firstPod    = plan.Target{Verb: "create", Kind: plan.KindPod, Name: "c-0"}
	noon        = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

// TestRefusedAgain has a write refused again and again, the spec edited, the write accepted, and very many others refused.
func TestRefusedAgain(t *testing.T) {
	t.Run("pauses", func(t *testing.T) {
		r, now := &refusals{}, noon
		for i, want := range []time.Duration{2, 4, 8, 16, 30, 30} {
			if news := r.note(someCluster, 1, firstPod, "no", now); news != (i == 0) {
				t.Errorf("refusal %d is news: %v", i, news)
			}
			got := r.of(someCluster, 1, now)
			if len(got) != 1 || got[0].RetryAt.Sub(now) != want*time.Second || !got[0].Since.Equal(noon) {
				t.Fatalf("refusal %d: %+v, want a pause of %d s since noon", i, got, want)
			}
			if _, refused := plan.Held(got, firstPod, got[0].RetryAt); refused || nextTry(got, now) != want*time.Second {
				t.Errorf("refusal %d is held %v when it may be tried again, which is in %s", i, refused, nextTry(got, now))
			}
			now = got[0].RetryAt
		}
	})
	t.Run("another message, another generation, an end", func(t *testing.T) {
		r := &refusals{}
		r.note(someCluster, 1, firstPod, "no", noon)
		if all := r.untold(someCluster, noon); len(all) != 1 || len(r.untold(someCluster, noon)) != 0 {
			t.Errorf("told is %+v, or it is told twice", all)
		}
		if !r.note(someCluster, 1, firstPod, "no, at 12:00", noon) || len(r.untold(someCluster, noon)) != 0 {
			t.Error("other words are no news, or are told of at once")
		}
		later := noon.Add(retold + 1)
		if !r.note(someCluster, 1, firstPod, "no, at 12:10", later) || len(r.untold(someCluster, later)) != 1 {
			t.Error("other words are not told of later, either")
		}
		if got := r.of(someCluster, 2, noon); len(got) != 0 {
			t.Errorf("after an edit %+v is still known", got)
		}
		r.note(someCluster, 2, firstPod, "no", noon)
		if got := r.of(someCluster, 2, noon); len(got) != 1 || got[0].RetryAt.Sub(noon) != firstRetry {
			t.Errorf("after an edit the pause goes on: %+v", got)
		}
		if r.done(someCluster, firstPod); len(r.of(someCluster, 2, noon)) != 0 {
			t.Error("it is known although it was done")
		}
		r.note(someCluster, 2, firstPod, "no", noon)
		if left := noon.Add(firstRetry + unasked); len(r.of(someCluster, 2, left)) != 1 || len(r.of(someCluster, 2, left.Add(1))) != 0 {
			t.Error("it is forgotten too early, or not at all")
		}
		if r.forget(someCluster); len(r.known) != 0 {
			t.Error("its cluster is not forgotten")
		}
	})
	t.Run("not wanted any more", func(t *testing.T) {
		r := &refusals{}
		r.note(someCluster, 1, firstPod, "no", noon)
		if r.lapse(someCluster, noon.Add(firstRetry-1)); len(r.of(someCluster, 1, noon)) != 1 {
			t.Error("it is not told of although it could not be tried again")
		}
		if r.lapse(someCluster, noon.Add(firstRetry)); len(r.of(someCluster, 1, noon)) != 0 {
			t.Error("it is told of although nobody wants it")
		}
		news := r.note(someCluster, 1, firstPod, "no", noon.Add(firstRetry))
		if got := r.of(someCluster, 1, noon); news || len(got) != 1 || got[0].RetryAt.Sub(noon) != 3*firstRetry {
			t.Errorf("wanted again it is news: %v, and %+v", news, got)
		}
	})
	t.Run("many", func(t *testing.T) {
		r := &refusals{}
		const many = 500
		for i := range many {
			r.note(someCluster, 1, plan.Target{Verb: "create", Kind: plan.KindPod, Name: fmt.Sprintf("c-%d", i)}, "no", noon.Add(time.Duration(i)))
		}
		got := r.of(someCluster, 1, noon)
		if len(got) != many || got[0].Name != "c-0" {
			t.Errorf("%d are known, the first is %s", len(got), got[0].Name)
		}
		if got = r.of(someCluster, 1, noon.Add(firstRetry+unasked+time.Second)); len(got) != 0 || len(r.known[someCluster]) != 0 {
			t.Errorf("%d are known after they were not tried for a while", len(got))
		}
	})
}

// TestRefused wants only what the API server refuses for the write's own sake to count as a refusal.
func TestRefused(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	answer := func(code int32, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
	}
	terminating := apierrors.NewForbidden(pods, "c-0", errors.New("it is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	const webhook = `admission webhook "w" denied the request: no`
	for title, c := range map[string]struct {
		err  error
		want bool
	}{
		"none":                         {nil, false},
		"forbidden":                    {fmt.Errorf("create: %w", apierrors.NewForbidden(pods, "c-0", errors.New("exceeded quota"))), true},
		"a bad request":                {apierrors.NewBadRequest("no"), true},
		"invalid":                      {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "c-0", nil), true},
		"too large":                    {apierrors.NewRequestEntityTooLargeError("no"), true},
		"not allowed":                  {apierrors.NewMethodNotSupported(pods, "create"), true},
		"a webhook that is not there":  {apierrors.NewInternalError(errors.New(`failed calling webhook "w": no route to host`)), true},
		"a webhook's own 404":          {answer(http.StatusNotFound, webhook), true},
		"a webhook's own 409":          {answer(http.StatusConflict, webhook), true},
		"a webhook's own 503":          {answer(http.StatusServiceUnavailable, webhook), true},
		"a policy's 401":               {answer(http.StatusUnauthorized, "pods \"c-0\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: no"), true},
		"changed back":                 {fmt.Errorf("update: %w", &rewrittenError{"label"}), true},
		"who are you":                  {apierrors.NewUnauthorized("no"), false},
		"not found":                    {apierrors.NewNotFound(pods, "c-0"), false},
		"there already":                {apierrors.NewAlreadyExists(pods, "c-0"), false},
		"changed meanwhile":            {apierrors.NewConflict(pods, "c-0", nil), false},
		"too many":                     {apierrors.NewTooManyRequests("wait", 1), false},
		"an error of the API server's": {apierrors.NewInternalError(errors.New("etcdserver: no leader")), false},
		"a timeout of the API server":  {apierrors.NewTimeoutError("request did not complete within requested timeout", 0), false},
		"not ready":                    {apierrors.NewServiceUnavailable("starting"), false},
		"the namespace goes":           {terminating, false},
		"something else":               {errors.New("no"), false},
	} {
		if got := refused(c.err); got != c.want {
			t.Errorf("%s: refused is %v", title, got)
		}
	}
}

// TestQuoted wants the API server's words as they are, but short, on one line, and without a user's name and password.
func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"pods \"c-0\" is forbidden: exceeded quota": "pods \"c-0\" is forbidden: exceeded quota",
		"a\n\tb  c": "a b c",
		`failed calling webhook "w": Post "https://user:secret@host:8443/x"`: `failed calling webhook "w": Post "https://host:8443/x"`,
	} {
		if got := quoted(fmt.Errorf("create Pod c-0: %w", apierrors.NewBadRequest(in))); got != want {
			t.Errorf("%q is quoted as %q", in, got)
		}
	}
	long := quoted(apierrors.NewBadRequest(strings.Repeat("ä", wordsKept)))
	if len(long) > wordsKept || len(long) < wordsKept-4 || !utf8.ValidString(long) || !strings.HasSuffix(long, "…") {
		t.Errorf("%d bytes: %q", len(long), long)
	}
}
