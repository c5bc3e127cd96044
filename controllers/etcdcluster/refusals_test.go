package etcdcluster

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// TestUndone has a write that was undone count as refused, which no answer of the API server says.
func TestUndone(t *testing.T) {
	if !refused(fmt.Errorf("update: %w", &rewrittenError{"label"})) {
		t.Error("it is tried again at once")
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
