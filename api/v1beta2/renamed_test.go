package v1beta2_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// formerStatus is what an operator wrote before fields got the names that they have, by kind.
func formerStatus(t *testing.T) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile("testdata/former_status.yaml")
	must(t, err)
	all := map[string]map[string]any{}
	must(t, yaml.Unmarshal(text, &all))
	return all
}

// TestFormerStatus wants nothing to be lost of what an operator wrote under other names, whoever decodes it.
func TestFormerStatus(t *testing.T) {
	for kind, former := range formerStatus(t) {
		text, err := json.Marshal(former)
		must(t, err)
		object, converted := statusOf(kind), statusOf(kind)
		must(t, json.Unmarshal(text, object))
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(former, converted))
		if !reflect.DeepEqual(object, converted) {
			t.Errorf("%s: converted it is %+v, decoded %+v", kind, converted, object)
		}
		if kind == "EtcdCluster" {
			former["readyMembers"] = nil // it is a number now, and written with every status
		}
		now := map[string]any{}
		must(t, json.Unmarshal([]byte(asJSON(t, object)), &now))
		left := leaves(now)
		for _, value := range leaves(former) {
			if !slices.Contains(left, value) {
				t.Errorf("%s: %s is lost; it is %s", kind, value, asJSON(t, object))
			}
		}
		again := statusOf(kind)
		must(t, json.Unmarshal([]byte(asJSON(t, object)), again))
		if !reflect.DeepEqual(object, again) {
			t.Errorf("%s: written again it is %+v, was %+v", kind, again, object)
		}
	}
}

// TestFormerTimes wants each time to be the one that it was.
func TestFormerTimes(t *testing.T) {
	all := formerStatus(t)
	cluster, backup, restore := &v1beta2.EtcdClusterStatus{}, &v1beta2.EtcdBackupStatus{}, &v1beta2.EtcdRestoreStatus{}
	for kind, into := range map[string]any{"EtcdCluster": cluster, "EtcdBackup": backup, "EtcdRestore": restore} {
		must(t, json.Unmarshal([]byte(asJSON(t, all[kind])), into))
	}
	record, run, taken := cluster.Restores[0], backup.Run, backup.Snapshots[0]
	for want, got := range map[string]time.Time{
		"01:13": record.StartTime.Time, "01:15": record.CompletionTime.Time,
		"01:21": record.CalledOff.StartTime.Time, "01:23": record.CalledOff.CompletionTime.Time,
		"00:51": cluster.LeaderMoved.MoveTime.Time, "01:56": cluster.Former.LeaderMoved.MoveTime.Time,
		"00:09": backup.NextScheduleTime.Time, "00:11": backup.LastScheduleTime.Time,
		"00:15": run.ScheduleTime.Time, "00:18": run.StartTime.Time, "00:21": run.AttemptStartTime.Time, "00:23": run.RetryTime.Time,
		"00:39": taken.CreationTime.Time, "00:41": taken.VerificationTime.Time,
		"01:08": restore.Run.AttemptStartTime.Time, "01:10": restore.Run.RetryTime.Time, "01:02": restore.SaveTime.Time,
		"00:17": restore.Snapshot.CreationTime.Time, "00:58": restore.SafetySnapshot.CreationTime.Time,
	} {
		if got.UTC().Format("15:04") != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if completed := restore.CompletionTime.UTC().Format("15:04"); completed != "01:15" {
		t.Errorf("the restore was completed at %s", completed)
	}
	if backup.Reason != "s3" || taken.SizeBytes != 36 || taken.StoredSizeBytes != 37 || restore.Source.EncryptionSecretRef.Name != "s32" {
		t.Errorf("reason %s, sizes %d and %d, key %s", backup.Reason, taken.SizeBytes, taken.StoredSizeBytes, restore.Source.EncryptionSecretRef.Name)
	}
	storage := restore.Source.Storage
	want := v1beta2.CABundleRef{Kind: v1beta2.CABundleSecret, Name: "s28", Key: "ca.crt"}
	if storage.CredentialsSecretRef.Name != "s25" || storage.CABundleRef != want {
		t.Errorf("the storage is %+v", storage)
	}
}

// testFormerStatus has the API server keep such a status until the operator writes it again, and people edit the object meanwhile.
// It takes it, too: while an operator is replaced, the one before still writes, with the CRDs of today.
func testFormerStatus(t *testing.T, config *rest.Config, c client.Client) {
	objects := storeFormer(t, config, c)
	for kind, status := range formerStatus(t) {
		set(objects[kind], map[string]any{"status": runtime.DeepCopyJSON(status)})
		set(objects[kind], map[string]any{"status.observedGeneration": int64(99)})
		if kind == "EtcdCluster" {
			set(objects[kind], map[string]any{"status.readyMembers": "2/3"})
		}
		check(t, c.Status().Update(t.Context(), objects[kind]), "")
		typed, want := objectOf(kind), statusOf(kind)
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(objects[kind]), typed))
		status["observedGeneration"] = 99
		must(t, json.Unmarshal([]byte(asJSON(t, status)), want))
		if got := reflect.ValueOf(typed).Elem().FieldByName("Status").Addr().Interface(); asJSON(t, got) != asJSON(t, want) {
			t.Errorf("%s: read %s, want %s", kind, asJSON(t, got), asJSON(t, want))
		}
		typed.SetLabels(map[string]string{"team": "a"})
		check(t, c.Update(t.Context(), typed), "")
		check(t, c.Status().Update(t.Context(), typed), "")
	}
}

// storeFormer stores an object of each kind with such a status, under CRDs that take any, and puts those of today in their place.
func storeFormer(t *testing.T, config *rest.Config, c client.Client) map[string]*unstructured.Unstructured {
	t.Helper()
	objects := map[string]*unstructured.Unstructured{"EtcdCluster": cluster("before", nil)}
	for _, kind := range []string{"EtcdBackup", "EtcdRestore"} {
		objects[kind] = of(kind, "before", map[string]any{
			"etcdCluster": map[string]any{"name": "c"}, "storage": map[string]any{"url": "s3://b/p"},
		})
	}
	crds := testenv.CRDs(t)
	for _, crd := range crds {
		replaceCRD(t, config, crd, anyStatus)
	}
	for kind, status := range formerStatus(t) {
		must(t, c.Create(t.Context(), objects[kind]))
		until(t, "the status of "+kind+" to be stored", func() error {
			set(objects[kind], map[string]any{"status": runtime.DeepCopyJSON(status)})
			err := c.Status().Update(t.Context(), objects[kind])
			if _, found, _ := unstructured.NestedFieldNoCopy(objects[kind].Object, "status", "conditions"); err == nil && !found {
				err = errors.New("it was pruned")
			}
			return err
		})
	}
	for _, crd := range crds {
		replaceCRD(t, config, crd, (*apiextensionsv1.JSONSchemaProps).DeepCopy)
	}
	for kind, object := range objects {
		until(t, "the schema of "+kind, func() error {
			u := object.DeepCopy()
			set(u, map[string]any{"status.observedGeneration": "many"})
			err := c.Status().Update(t.Context(), u, &client.SubResourceUpdateOptions{
				UpdateOptions: client.UpdateOptions{DryRun: []string{metav1.DryRunAll}},
			})
			if !apierrors.IsInvalid(err) {
				return fmt.Errorf("anything goes: %w", err)
			}
			return nil
		})
	}
	return objects
}

// anyStatus takes a status of any shape, as that of another release.
func anyStatus(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	s, yes := s.DeepCopy(), true
	s.Properties["status"] = apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}
	return s
}

func objectOf(kind string) client.Object {
	return map[string]client.Object{
		"EtcdCluster": &v1beta2.EtcdCluster{}, "EtcdBackup": &v1beta2.EtcdBackup{}, "EtcdRestore": &v1beta2.EtcdRestore{},
	}[kind]
}

func statusOf(kind string) any {
	return map[string]any{
		"EtcdCluster": &v1beta2.EtcdClusterStatus{}, "EtcdBackup": &v1beta2.EtcdBackupStatus{}, "EtcdRestore": &v1beta2.EtcdRestoreStatus{},
	}[kind]
}

// leaves are the values in JSON, as text.
func leaves(of any) (all []string) {
	switch v := of.(type) {
	case nil:
	case map[string]any:
		for _, one := range v {
			all = append(all, leaves(one)...)
		}
	case []any:
		for _, one := range v {
			all = append(all, leaves(one)...)
		}
	default:
		all = append(all, fmt.Sprint(v))
	}
	return all
}
