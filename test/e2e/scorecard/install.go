package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// basicInstall creates the bundle's own examples: Kubernetes takes all of them, and each EtcdCluster becomes available and
// holds data.
func basicInstall(ctx context.Context, t *trial) error {
	examples := []*unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(t.bundle.CSV.Annotations["alm-examples"]), &examples); err != nil {
		return fmt.Errorf("read the annotation alm-examples of %s: %w", t.bundle.CSV.Name, err)
	}
	clusters := 0
	for _, example := range examples {
		if err := t.accepted(ctx, example); err != nil {
			return err
		}
		if example.GetKind() != "EtcdCluster" {
			continue
		}
		clusters++
		if err := t.serves(ctx, example); err != nil {
			return fmt.Errorf("example %s: %w", example.GetName(), err)
		}
	}
	if clusters == 0 {
		return errors.New("the annotation alm-examples has no EtcdCluster")
	}
	return nil
}

// accepted has Kubernetes check an example without keeping it.
func (t *trial) accepted(ctx context.Context, example *unstructured.Unstructured) error {
	trial := example.DeepCopy()
	trial.SetName(t.name)
	trial.SetNamespace(t.namespace)
	strict := client.WithFieldValidation(t.Client, "Strict")
	if err := strict.Create(ctx, trial, client.DryRunAll); err != nil {
		return fmt.Errorf("the example %s %s is refused: %w", example.GetKind(), example.GetName(), err)
	}
	t.note("%s %s is accepted", example.GetKind(), example.GetName())
	return nil
}

// serves makes an EtcdCluster from an example, writes to it, reads that, and removes it with its volumes, which the example keeps.
func (t *trial) serves(ctx context.Context, example *unstructured.Unstructured) error {
	made := example.DeepCopy()
	if err := unstructured.SetNestedField(made.Object, string(v1beta2.VolumeReclaimDelete), "spec", "volumeReclaimPolicy"); err != nil {
		return fmt.Errorf("have the example leave no volumes: %w", err)
	}
	c, err := t.cluster(ctx, made)
	if err != nil {
		return err
	}
	if err := t.puts(ctx, c, "example", 1); err != nil {
		return err
	}
	if err := t.has(ctx, c, "example", 1); err != nil {
		return err
	}
	return t.remove(ctx, c)
}

// remove removes a cluster in the middle of a test.
func (t *trial) remove(ctx context.Context, c *harness.Cluster) error {
	if err := c.Remove(ctx, limit); err != nil {
		return err
	}
	t.note("EtcdCluster %s is gone", c.Name)
	return nil
}
