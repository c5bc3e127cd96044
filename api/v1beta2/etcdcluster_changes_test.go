package v1beta2_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func testUpdate(t *testing.T, c client.Client) {
	volume := claim("ReadWriteOnce")
	const field = "spec.pod.persistentVolumeClaimSpec"
	for name, tc := range map[string]struct {
		before, after map[string]any
		want          string
	}{
		"resize":        {after: map[string]any{"spec.size": int64(5)}},
		"resize to 0":   {after: map[string]any{"spec.size": int64(0)}, want: "greater than or equal to 1"},
		"add a pod":     {after: map[string]any{"spec.pod.antiAffinity": true}},
		"add volumes":   {after: map[string]any{field: volume}},
		"drop volumes":  {before: map[string]any{field: volume}, after: map[string]any{field: nil}},
		"grow volumes":  {before: map[string]any{field: volume}, after: map[string]any{field + ".volumeName": "x"}},
		"pause":         {after: map[string]any{"spec.paused": true}},
		"other version": {after: map[string]any{"spec.version": "3.7.3"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := cluster("update", tc.before)
			check(t, c.Create(t.Context(), u), "")
			defer func() { check(t, c.Delete(t.Context(), u), "") }()
			changed := u.DeepCopy()
			set(changed, tc.after)
			check(t, c.Update(t.Context(), changed, client.DryRunAll), tc.want)
		})
	}
}

func testScale(t *testing.T, c client.Client) {
	u := cluster("scale", nil)
	check(t, c.Create(t.Context(), u), "")
	set(u, map[string]any{"status": map[string]any{"size": int64(2), "selector": "etcd_cluster=scale"}})
	check(t, c.Status().Update(t.Context(), u), "")

	scale := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale"}}
	check(t, c.SubResource("scale").Get(t.Context(), u, scale), "")
	for path, want := range map[string]any{
		"spec.replicas": int64(3), "status.replicas": int64(2), "status.selector": "etcd_cluster=scale",
	} {
		if got, _, _ := unstructured.NestedFieldNoCopy(scale.Object, strings.Split(path, ".")...); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	set(scale, map[string]any{"spec.replicas": int64(10)})
	check(t, c.SubResource("scale").Update(t.Context(), u, client.WithSubResourceBody(scale)), "less than or equal to 9")
}

// testStrict wants a misspelled field to be refused where the user's client asks for it, as kubectl does.
func testStrict(t *testing.T, c client.Client) {
	u := cluster("strict", map[string]any{"spec.pods": map[string]any{}})
	err := client.WithFieldValidation(c, "Strict").Create(t.Context(), u, client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), `unknown field "spec.pods"`) {
		t.Errorf("got %v, want the unknown field named", err)
	}
}

// testApply has two owners set what they own of a list by server-side apply, and neither take the other's away.
func testApply(t *testing.T, c client.Client) {
	apply := func(owner string, fields map[string]any) {
		t.Helper()
		u := cluster("applied", fields)
		must(t, c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(owner)))
	}
	tolerations := []any{map[string]any{"key": "a", "operator": "Exists"}}
	apply("a", map[string]any{
		"spec.pod.etcdEnv": env("ETCD_A", "value", "x"), "spec.pod.imagePullSecrets": []any{map[string]any{"name": "a"}},
		"spec.pod.tolerations": tolerations,
	})
	apply("b", map[string]any{
		"spec.pod.etcdEnv": env("ETCD_B", "value", "y"), "spec.pod.imagePullSecrets": []any{map[string]any{"name": "b"}},
	})
	apply("a", map[string]any{"spec.pod.etcdEnv": env("ETCD_A", "value", "z"), "spec.pod.tolerations": tolerations})
	got := cluster("applied", nil)
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(got), got))
	pod, _, _ := unstructured.NestedMap(got.Object, "spec", "pod")
	want := map[string]any{
		"etcdEnv":          append(env("ETCD_A", "value", "z"), env("ETCD_B", "value", "y")...),
		"imagePullSecrets": []any{map[string]any{"name": "b"}},
		"tolerations":      tolerations,
	}
	if !reflect.DeepEqual(pod, want) {
		t.Errorf("got %v, want %v", pod, want)
	}
}
