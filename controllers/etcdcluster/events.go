package etcdcluster

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// clustersOf maps a pod to the cluster in its labels, and to its owner: an unrelated pod may have only the first, and a pod whose labels
// were removed by hand only the second.
func clustersOf(ctx context.Context, o client.Object) []ctrl.Request {
	requests := clusterOf(ctx, o)
	owner := metav1.GetControllerOf(o)
	if owner == nil || owner.Kind != "EtcdCluster" {
		return requests
	}
	owned := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: owner.Name}}
	if slices.Contains(requests, owned) {
		return requests
	}
	return append(requests, owned)
}

func clusterOf(_ context.Context, o client.Object) []ctrl.Request {
	name, ok := o.GetLabels()[resources.LabelCluster]
	if !ok || o.GetLabels()[resources.LabelApp] != resources.AppValue {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}
