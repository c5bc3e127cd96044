package v1beta2_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// testStored has objects stored while no rule was there, as with an older release, and wants people to be able to edit them:
// anything but what is wrong, and that to be right.
func testStored(t *testing.T, config *rest.Config, c client.Client) {
	crds := testenv.CRDs(t)
	for _, crd := range crds {
		replaceCRD(t, config, crd, withoutRules)
	}
	reserved := map[string]any{"etcd.database.coreos.com/x": "y"}
	ofCluster := map[string]any{"spec.paused": true, "spec.pod.labels": map[string]any{"team": "a"}}
	type stored struct {
		object       *unstructured.Unstructured
		path         string
		wrong, right any
		edit         map[string]any
	}
	objects := map[string]stored{}
	for name, c := range map[string]stored{
		"twice":       {path: "spec.pod.etcdEnv", wrong: append(env("A", "value", "x"), env("A", "value", "y")...), right: env("A", "value", "y")},
		"env":         {path: "spec.pod.etcdEnv", wrong: env("ETCD_A", "valueFrom", map[string]any{}), right: env("ETCD_A", "value", "x")},
		"shared":      {path: "spec.pod.persistentVolumeClaimSpec", wrong: claim("ReadWriteMany"), right: claim("ReadWriteOnce")},
		"size":        {path: "spec.pod.persistentVolumeClaimSpec", wrong: map[string]any{}, right: claim()},
		"annotations": {path: "spec.pod.annotations", wrong: reserved, right: map[string]any{"x": "y"}},
		"service":     {path: "spec.services.client.annotations", wrong: reserved, right: map[string]any{"x": "y"}},
		"heartbeat":   {path: "spec.etcd.heartbeatInterval", wrong: "1.5ms", right: "1ms"},
	} {
		c.object, c.edit = cluster("stored-"+name, nil), ofCluster
		objects[name] = c
	}
	backup := map[string]any{"etcdCluster": map[string]any{"name": "c"}, "storage": map[string]any{"url": "s3://b/p"}}
	for name, c := range map[string]stored{
		"schedule": {path: "spec.schedule", wrong: "daily", right: "@daily"},
		"scratch":  {path: "spec.pod.scratch", wrong: map[string]any{}, right: claim()},
		// Former names, which are to be taken off.
		"passphrase":  {path: "spec.encryptionSecret", wrong: "passphrase"},
		"credentials": {path: "spec.storage.secret", wrong: "keys"},
		"authority":   {path: "spec.storage.caSecret", wrong: "ca"},
	} {
		c.object, c.edit = of("EtcdBackup", "stored-"+name, (&unstructured.Unstructured{Object: backup}).DeepCopy().Object), map[string]any{"spec.suspend": true}
		objects[name] = c
	}
	for name, s := range objects {
		set(s.object, map[string]any{s.path: s.wrong})
		until(t, name+" to be stored", func() error { return c.Create(t.Context(), s.object) })
	}
	for _, crd := range crds {
		replaceCRD(t, config, crd, (*apiextensionsv1.JSONSchemaProps).DeepCopy)
	}
	for name, s := range objects {
		t.Run(name, func(t *testing.T) {
			fresh := s.object.DeepCopy()
			fresh.SetName("fresh-" + name)
			fresh.SetResourceVersion("")
			until(t, "the rule", func() error {
				if err := c.Create(t.Context(), fresh.DeepCopy(), client.DryRunAll); !apierrors.IsInvalid(err) {
					return errors.Join(errors.New("a new object is not refused"), err)
				}
				return nil
			})
			set(s.object, s.edit)
			check(t, c.Update(t.Context(), s.object), "")
			if _, found, _ := unstructured.NestedFieldNoCopy(s.object.Object, strings.Split(s.path, ".")...); !found {
				t.Errorf("%s is left out", s.path)
			}
			set(s.object, map[string]any{"status.observedGeneration": int64(1)})
			check(t, c.Status().Update(t.Context(), s.object), "")
			set(s.object, map[string]any{s.path: s.right})
			check(t, c.Update(t.Context(), s.object), "")
		})
	}
}

// replaceCRD puts a CRD into the API server, with its schema as it is made. What was stored stays.
func replaceCRD(
	t *testing.T, config *rest.Config, crd *apiextensionsv1.CustomResourceDefinition,
	made func(*apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps,
) {
	t.Helper()
	scheme := testenv.Scheme(t)
	must(t, apiextensionsv1.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	there := &apiextensionsv1.CustomResourceDefinition{}
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(crd), there))
	there.Spec = *crd.Spec.DeepCopy()
	schema := there.Spec.Versions[0].Schema
	schema.OpenAPIV3Schema = made(schema.OpenAPIV3Schema)
	must(t, c.Update(t.Context(), there))
}

func withoutRules(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	s = s.DeepCopy()
	s.XValidations, s.XListType, s.XListMapKeys = nil, nil, nil
	for name, p := range s.Properties {
		s.Properties[name] = *withoutRules(&p)
	}
	if s.Items != nil && s.Items.Schema != nil {
		s.Items.Schema = withoutRules(s.Items.Schema)
	}
	return s
}

func until(t *testing.T, what string, holds func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		last = holds()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, last)
	}
}
