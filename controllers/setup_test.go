package controllers

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestIsOpenShift(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "security.openshift.io", Version: "v1", Kind: "SecurityContextConstraints"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{kind.GroupVersion()})
	if found, err := isOpenShift(mapper); found || err != nil {
		t.Errorf("plain Kubernetes: %v, %v", found, err)
	}
	mapper.Add(kind, meta.RESTScopeRoot)
	if found, err := isOpenShift(mapper); !found || err != nil {
		t.Errorf("OpenShift: %v, %v", found, err)
	}
}
