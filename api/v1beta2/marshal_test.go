package v1beta2_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestMarshal wants clients with types to send what was set, and nothing else: an empty struct would be theirs from then on.
func TestMarshal(t *testing.T) {
	for want, object := range map[string]any{
		`{"spec":{"size":3}}`: &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Size: 3}},
		`{"spec":{"size":3,"pod":{"priorityClassName":"high"}}}`: &v1beta2.EtcdCluster{
			Spec: v1beta2.EtcdClusterSpec{Size: 3, Pod: &v1beta2.PodPolicy{PriorityClassName: "high"}},
		},
		`{"spec":{"pod":{"priorityClassName":"low"}}}`: &v1beta2.EtcdBackup{
			Spec: v1beta2.EtcdBackupSpec{Pod: &v1beta2.AgentPodPolicy{PriorityClassName: "low"}},
		},
		`{"spec":{"etcdCluster":{"name":"c"}}}`: &v1beta2.EtcdRestore{
			Spec: v1beta2.EtcdRestoreSpec{EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"}},
		},
		`{"phase":"Running"}`: &v1beta2.EtcdClusterStatus{Phase: v1beta2.ClusterPhaseRunning},
	} {
		direct, err := json.Marshal(object)
		if err != nil || string(direct) != want {
			t.Errorf("got %s, %v, want %s", direct, err, want)
		}
		converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		var wanted map[string]any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if got, again := asJSON(t, converted), asJSON(t, wanted); got != again {
			t.Errorf("converted it is %s, want %s", got, again)
		}
	}
}

func asJSON(t *testing.T, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestStructsAreOmitted finds the structs that omitempty never leaves out.
func TestStructsAreOmitted(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, of := range []reflect.Type{
		reflect.TypeFor[v1beta2.EtcdClusterList](), reflect.TypeFor[v1beta2.EtcdBackupList](), reflect.TypeFor[v1beta2.EtcdRestoreList](),
		reflect.TypeFor[v1beta2.EtcdUserList](), reflect.TypeFor[v1beta2.EtcdRoleList](),
	} {
		neverEmpty(t, of, seen)
	}
	if len(seen) < 30 {
		t.Errorf("only %d types were found", len(seen))
	}
}

func neverEmpty(t *testing.T, of reflect.Type, seen map[reflect.Type]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || seen[of] || !strings.HasPrefix(of.String(), "v1beta2.") {
		return
	}
	seen[of] = true
	for i := range of.NumField() {
		field := of.Field(i)
		if tag := field.Tag.Get("json"); field.Type.Kind() == reflect.Struct && strings.Contains(tag, "omitempty") {
			t.Errorf("%s.%s has %q: use omitzero", of, field.Name, tag)
		}
		neverEmpty(t, field.Type, seen)
	}
}
