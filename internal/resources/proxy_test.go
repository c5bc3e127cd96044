package resources

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestProxyEnv(t *testing.T) {
	handed, withheld := ProxyEnv([]corev1.EnvVar{
		{Name: "HTTP_PROXY", Value: "http://proxy:3128"},
		{Name: "HTTPS_PROXY", Value: "http://user:secret@proxy:3128"},
		{Name: "NO_PROXY", Value: ".svc,10.0.0.0/8"},
	})
	want := []corev1.EnvVar{{Name: "HTTP_PROXY", Value: "http://proxy:3128"}, {Name: "NO_PROXY", Value: ".svc,10.0.0.0/8"}}
	if !reflect.DeepEqual(handed, want) || !slices.Equal(withheld, []string{"HTTPS_PROXY"}) {
		t.Errorf("handed %v, withheld %v", handed, withheld)
	}
}
