package installation

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestOwnPods wants the operator to know its own pods by what the kubelet says of them, and none where nobody says anything.
func TestOwnPods(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(file, []byte("there\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("POD_LABEL_CONTROL_PLANE", "")
	t.Setenv("POD_LABEL_NAME", "")
	if own := OwnPods(file); own.Known() {
		t.Errorf("without variables it knows %+v", own)
	}
	t.Setenv("POD_LABEL_NAME", "renamed")
	want := resources.OperatorPods{Namespace: "there", Labels: map[string]string{"app.kubernetes.io/name": "renamed"}}
	if own := OwnPods(file); !reflect.DeepEqual(own, want) || !own.Known() {
		t.Errorf("it knows %+v, want %+v", own, want)
	}
	if own := OwnPods(file + "-of-nobody"); own.Known() {
		t.Errorf("outside of Kubernetes it knows %+v", own)
	}
}

// TestNoNamespace wants a file that says nothing to be no namespace: a Lease in none would be the same for every installation.
func TestNoNamespace(t *testing.T) {
	t.Setenv("POD_LABEL_NAME", "renamed")
	empty := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for title, file := range map[string]string{"an empty file": empty, "no file": empty + "-of-nobody"} {
		if self, err := Identity(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: it is %+v, %v", title, self, err)
		}
		if own := OwnPods(file); !reflect.DeepEqual(own, resources.OperatorPods{}) {
			t.Errorf("%s: it knows %+v", title, own)
		}
	}
}
