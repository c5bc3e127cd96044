package install

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// objects are the EtcdClusters and EtcdBackups of the clusters' namespaces, as the API server has them and not as this tree's types do.
func (c *clusters) objects() (objects []unstructured.Unstructured) {
	c.s.t.Helper()
	for _, one := range c.all {
		for _, kind := range []string{"EtcdClusterList", "EtcdBackupList"} {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
			must(c.s.t, c.s.List(c.s.t.Context(), list, client.InNamespace(one.Namespace)))
			objects = append(objects, list.Items...)
		}
	}
	return objects
}

// stay wants objects to have all that their specs had, whatever the CRDs are by now, and to be of the same etcd clusters.
func (c *clusters) stay(was []unstructured.Unstructured) {
	c.s.t.Helper()
	now := c.objects()
	for _, before := range was {
		i := slices.IndexFunc(now, func(o unstructured.Unstructured) bool { return o.GetUID() == before.GetUID() })
		if i < 0 {
			c.s.t.Errorf("%s %s/%s is gone", before.GetKind(), before.GetNamespace(), before.GetName())
			continue
		}
		for _, field := range [][]string{{"spec"}, {"status", "clusterID"}} {
			had, _, err := unstructured.NestedFieldNoCopy(before.Object, field...)
			must(c.s.t, err)
			has, _, err := unstructured.NestedFieldNoCopy(now[i].Object, field...)
			must(c.s.t, err)
			for _, difference := range lost(strings.Join(field, "."), had, has) {
				c.s.t.Errorf("%s %s/%s: %s", before.GetKind(), before.GetNamespace(), before.GetName(), difference)
			}
		}
	}
}

// lost are the fields that are not what they were. There may be more of them: a CRD can have come with other defaults.
func lost(path string, had, has any) (differences []string) {
	fields, object := had.(map[string]any)
	now, still := has.(map[string]any)
	if !object || !still {
		if !reflect.DeepEqual(had, has) {
			differences = append(differences, fmt.Sprintf("%s was %v and is %v", path, had, has))
		}
		return differences
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		differences = append(differences, lost(path+"."+name, fields[name], now[name])...)
	}
	return differences
}

// valid wants the CRDs to admit each object as if it were new: of one that is there they do not look at what stays as it is.
func (c *clusters) valid() {
	c.s.t.Helper()
	for _, object := range c.objects() {
		again := &unstructured.Unstructured{Object: map[string]any{"spec": object.Object["spec"]}}
		again.SetGroupVersionKind(object.GroupVersionKind())
		again.SetNamespace(object.GetNamespace())
		again.SetName(object.GetName() + "-again")
		if err := c.s.Create(c.s.t.Context(), again, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
			c.s.t.Errorf("%s %s/%s is not valid any more: %v", object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
	}
}

// good waits until all conditions of all objects are as they are if nothing is wrong or under way, and nothing is held.
func (c *clusters) good() {
	c.s.t.Helper()
	must(c.s.t, harness.Await(c.s.t.Context(), "everything is well", limit, func(ctx context.Context) (string, bool) {
		seen := ""
		for _, one := range c.all {
			object, err := one.Get(ctx)
			backups := &v1beta2.EtcdBackupList{}
			if err == nil {
				err = c.s.List(ctx, backups, client.InNamespace(one.Namespace))
			}
			if err != nil {
				return err.Error(), false
			}
			seen += bad(one.Name, object.Status.Conditions)
			if pilot := object.Status.Autopilot; pilot != nil && len(pilot.Held) > 0 {
				seen += fmt.Sprintf("%s: held is %+v; ", one.Name, pilot.Held)
			}
			for _, b := range backups.Items {
				seen += bad(b.Name, b.Status.Conditions)
			}
		}
		return seen, seen == ""
	}))
}

// wanted are the statuses of conditions of which anything but True is good.
var wanted = map[string][]metav1.ConditionStatus{
	v1beta2.ConditionDegraded:    {metav1.ConditionFalse},
	v1beta2.ConditionProgressing: {metav1.ConditionFalse},
	v1beta2.ConditionAnomaly:     {metav1.ConditionFalse, metav1.ConditionUnknown}, // for the first day
}

// bad says which conditions are not good; without any, that nobody has said anything is not good either.
func bad(name string, conditions []metav1.Condition) (seen string) {
	if len(conditions) == 0 {
		return name + " has no conditions; "
	}
	for _, c := range conditions {
		good, other := wanted[c.Type]
		if !other {
			good = []metav1.ConditionStatus{metav1.ConditionTrue}
		}
		if !slices.Contains(good, c.Status) {
			seen += fmt.Sprintf("%s: %s is %s (%s: %s); ", name, c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return seen
}
