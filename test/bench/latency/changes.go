package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// written are all kinds of objects that the operator writes for a cluster.
var written = []schema.GroupVersionResource{
	v1beta2.GroupVersion.WithResource("etcdclusters"),
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "persistentvolumeclaims"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "events.k8s.io", Version: "v1", Resource: "events"},
}

// countChanges counts how often an object in the namespace is created, changed or deleted within that time, by anyone.
// It sees every version of every object, other than a look at the end.
func countChanges(ctx context.Context, env *harness.Env, space string, d time.Duration) (int, error) {
	config, err := clientcmd.BuildConfigFromFlags("", env.Kubeconfig)
	if err != nil {
		return 0, err
	}
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	counts := make(chan int, len(written))
	failures := make(chan error, len(written))
	for _, kind := range written {
		list, err := c.Resource(kind).Namespace(space).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return 0, fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		w, err := c.Resource(kind).Namespace(space).Watch(ctx,
			metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		if err != nil {
			return 0, fmt.Errorf("watch %s: %w", kind.Resource, err)
		}
		defer w.Stop()
		go func() {
			n, err := count(ctx, w)
			counts <- n
			failures <- err
		}()
	}
	total := 0
	for range written {
		total += <-counts
		err = errors.Join(err, <-failures)
	}
	return total, err
}

// count counts events until the context ends.
func count(ctx context.Context, w watch.Interface) (int, error) {
	n := 0
	for {
		select {
		case event, open := <-w.ResultChan():
			if open && event.Type != watch.Error {
				n++
				continue
			}
			if early := ctx.Err() == nil; early {
				return n, errors.New("a watch ended early: changes may have been missed")
			}
			return n, nil
		case <-ctx.Done():
			return n, nil
		}
	}
}
