package install

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// wait is for kubectl.
var wait = "--timeout=" + limit.String()

// removeAll removes whatever any of the stories may have installed, or make deploy.
func (s *story) removeAll(ctx context.Context) error {
	if err := s.removeObjects(ctx); err != nil {
		return err
	}
	if err := s.Run(ctx, "delete", "namespace", "--ignore-not-found", wait, movedTo); err != nil {
		return err
	}
	for _, file := range manifests {
		if err := s.Run(ctx, "delete", "--ignore-not-found", wait, "-f", file); err != nil {
			return err
		}
	}
	return s.Run(ctx, "delete", "role,rolebinding", "--all-namespaces", wait,
		"-l", "app.kubernetes.io/name=etcd-operator,app.kubernetes.io/component=rights")
}

// removeObjects removes all objects of the operator's kinds, of all namespaces, while an operator runs. Some have a finalizer that only an
// operator removes, such as every EtcdUser: if the operator were deleted together with the CRDs, these would stay, and so would their CRDs.
func (s *story) removeObjects(ctx context.Context) error {
	kinds, err := s.kinds(ctx)
	if err != nil || len(kinds) == 0 {
		return err
	}
	operators, err := s.Operators(ctx, harness.OperatorNamespace)
	if err == nil && len(operators) == 0 {
		err = s.Deploy(ctx)
	}
	if err != nil {
		return err
	}
	return s.Run(ctx, "delete", "--all", "--all-namespaces", wait, strings.Join(kinds, ","))
}

// kinds are those of which there are objects, as kubectl calls them.
func (s *story) kinds(ctx context.Context) ([]string, error) {
	var kinds []string
	for kind, objects := range map[string]client.ObjectList{
		"etcdclusters": &v1beta2.EtcdClusterList{}, "etcdbackups": &v1beta2.EtcdBackupList{}, "etcdrestores": &v1beta2.EtcdRestoreList{},
		"etcdusers": &v1beta2.EtcdUserList{}, "etcdroles": &v1beta2.EtcdRoleList{},
	} {
		switch err := s.List(ctx, objects); {
		case meta.IsNoMatchError(err), apierrors.IsNotFound(err): // There is no such CRD, or not any more.
		case err != nil:
			return nil, err
		case meta.LenList(objects) > 0:
			kinds = append(kinds, kind+"."+v1beta2.GroupVersion.Group)
		}
	}
	slices.Sort(kinds)
	return kinds, nil
}
