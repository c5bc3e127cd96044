package registry

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestBroken(t *testing.T) {
	broken := Broken(t.TempDir() + "/broken")
	handler := broken.deny(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ask := func(method, path string) int {
		request := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		return recorder.Code
	}
	const path = "/v2/coreos/etcd/manifests/v3.6.16"
	if code := ask(http.MethodGet, path); code != http.StatusOK {
		t.Errorf("before: %d", code)
	}
	for _, reference := range []string{"quay.io/coreos/etcd:v3.6.16", "busybox"} {
		if err := broken.Break(reference); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, path, http.StatusNotFound},
		{http.MethodHead, path, http.StatusNotFound},
		{http.MethodPut, path, http.StatusOK},
		{http.MethodGet, "/v2/coreos/etcd/manifests/v3.6.15", http.StatusOK},
		{http.MethodGet, "/v2/library/busybox/manifests/latest", http.StatusNotFound},
		{http.MethodGet, "/v2/", http.StatusOK},
	} {
		if code := ask(test.method, test.path); code != test.want {
			t.Errorf("%s %s answers %d, want %d", test.method, test.path, code, test.want)
		}
	}
	for range 2 { // Mending what is whole does nothing.
		if err := broken.Mend("quay.io/coreos/etcd:v3.6.16"); err != nil {
			t.Fatal(err)
		}
	}
	if code := ask(http.MethodGet, path); code != http.StatusOK {
		t.Errorf("after: %d", code)
	}
}

func TestBrokenNeedsAReference(t *testing.T) {
	broken := Broken(t.TempDir())
	if broken.Break("no name") == nil || broken.Mend("") == nil || broken.BreakTags("etcd:v3") == nil || broken.MendTags("") == nil {
		t.Error("a name that is none was taken")
	}
}

// TestBrokenTags wants a repository to be there by its digests only, and others as they are.
func TestBrokenTags(t *testing.T) {
	broken := Broken(t.TempDir() + "/broken")
	handler := broken.deny(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	const repository, digest = "/v2/coreos/etcd", "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	answers := func(method, path string, want int) {
		t.Helper()
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		if recorder.Code != want {
			t.Errorf("%s %s answers %d, want %d", method, path, recorder.Code, want)
		}
	}
	if err := broken.BreakTags("quay.io/coreos/etcd"); err != nil {
		t.Fatal(err)
	}
	answers(http.MethodGet, repository+"/manifests/v3.6.16", http.StatusNotFound)
	answers(http.MethodHead, repository+"/manifests/v3.7.3", http.StatusNotFound)
	answers(http.MethodPut, repository+"/manifests/v3.7.3", http.StatusOK)
	answers(http.MethodGet, repository+"/manifests/"+digest, http.StatusOK)
	answers(http.MethodGet, repository+"/blobs/"+digest, http.StatusOK)
	answers(http.MethodGet, "/v2/coreos/etcd-operator/manifests/v0.1.0", http.StatusOK)
	for range 2 {
		if err := broken.MendTags("quay.io/coreos/etcd"); err != nil {
			t.Fatal(err)
		}
	}
	answers(http.MethodGet, repository+"/manifests/v3.6.16", http.StatusOK)
}
