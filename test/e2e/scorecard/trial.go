package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/manifests"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// limit is how long any one step may take.
	limit = 3 * time.Minute
	// tidyLimit is how long it may take to remove what a test has made: less than a pod has between SIGTERM and SIGKILL.
	tidyLimit = 25 * time.Second
	// bundleFolder is where scorecard puts the bundle.
	bundleFolder = "/bundle"
)

// trial is one run of a test.
type trial struct {
	*harness.Env
	bundle    *manifests.Bundle
	namespace string
	// name is no one else's: what users have in the namespace is left alone.
	name  string
	start time.Time
	log   strings.Builder
	// tidy undoes what was done, the last first.
	tidy []func(context.Context) error
}

func begin(test string) (*trial, error) {
	t := &trial{
		namespace: os.Getenv("SCORECARD_NAMESPACE"), start: time.Now(),
		name: fmt.Sprintf("scorecard-%s-%s", strings.Join(strings.Split(test, "-")[:2], "-"), rand.String(5)),
	}
	if t.namespace == "" {
		return nil, errors.New("SCORECARD_NAMESPACE is not set: run this with operator-sdk scorecard")
	}
	var err error
	if t.bundle, err = manifests.GetBundleFromDir(bundleFolder); err != nil {
		return nil, fmt.Errorf("read the bundle in %s: %w", bundleFolder, err)
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("find the Kubernetes cluster: %w", err)
	}
	config.WarningHandler = rest.NoWarnings{} // it would be in the result
	config.QPS, config.Burst = 50, 100        // conditions are looked at ten times a second
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("set up the scheme: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to Kubernetes: %w", err)
	}
	t.Env = &harness.Env{Client: c}
	return t, nil
}

// run runs a test, and removes what it made whatever becomes of it.
func (t *trial) run(ctx context.Context, test func(context.Context, *trial) error) error {
	err := test(ctx, t)
	if ctx.Err() != nil {
		err = fmt.Errorf("scorecard's time was up: %w", err)
	}
	tidying, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	for _, undo := range slices.Backward(t.tidy) {
		err = errors.Join(err, undo(tidying))
	}
	return err
}

// note adds a line to the result.
func (t *trial) note(format string, args ...any) {
	fmt.Fprintf(&t.log, "%5.1f s  %s\n", time.Since(t.start).Seconds(), fmt.Sprintf(format, args...))
}

// add creates an object that goes at the end.
func (t *trial) add(ctx context.Context, object client.Object) error {
	object.SetNamespace(t.namespace)
	if err := t.Create(ctx, object); err != nil {
		return fmt.Errorf("create %T %s: %w", object, object.GetName(), err)
	}
	t.tidy = append(t.tidy, func(ctx context.Context) error {
		err := t.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove %T %s: %w", object, object.GetName(), err)
		}
		return nil
	})
	return nil
}

// cluster creates an EtcdCluster and waits until it is available.
func (t *trial) cluster(ctx context.Context, object client.Object) (*harness.Cluster, error) {
	object.SetName(t.name)
	if err := t.add(ctx, object); err != nil {
		return nil, err
	}
	c := &harness.Cluster{Env: t.Env, Namespace: t.namespace, Name: t.name}
	if err := c.Healthy(ctx, limit); err != nil {
		return nil, err
	}
	if err := c.Says(ctx, v1beta2.ConditionAvailable, v1beta2.ReasonHasQuorum, limit); err != nil {
		return nil, err
	}
	t.note("EtcdCluster %s is available", c.Name)
	return c, nil
}

// suggestions say what a person can do about an error.
func suggestions(err error) []string {
	var found []string
	if strings.Contains(err.Error(), "forbidden") {
		found = append(found, "apply config/scorecard/rbac in the namespace of the tests, and run scorecard with "+
			"--service-account etcd-operator-scorecard")
	}
	if strings.Contains(err.Error(), "phase , ") {
		found = append(found, "the EtcdCluster has no status: have the operator watch the namespace of the tests")
	}
	if strings.Contains(err.Error(), "time was up") {
		found = append(found, "give scorecard more --wait-time")
	}
	return found
}
