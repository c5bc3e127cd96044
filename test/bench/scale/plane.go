package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// operatorUser is the operator's service account: priority and fairness treat it as they would in a cluster.
const operatorUser = "system:serviceaccount:etcd-operator-system:etcd-operator-controller-manager"

// plane is an API server with its etcd, which does not wait for its disk.
type plane struct {
	environment *envtest.Environment
	admin       *rest.Config
	// kubeconfig is the operator's, a path in dir.
	kubeconfig, dir string
}

func startPlane(ctx context.Context) (p *plane, err error) {
	root := os.Getenv("ROOT")
	if root == "" {
		return nil, errors.New("ROOT is not set: it is the top of the source tree")
	}
	crds, err := crdManifests(root)
	if err != nil {
		return nil, err
	}
	p = &plane{environment: &envtest.Environment{
		CRDInstallOptions:        envtest.CRDInstallOptions{CRDs: crds},
		ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: time.Minute,
	}}
	// Every cluster needs an address for its client Service.
	p.environment.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.96.0.0/12")
	if p.dir, err = os.MkdirTemp("", "bench-scale-"); err != nil {
		return nil, err
	}
	if p.admin, err = p.environment.Start(); err == nil {
		err = errors.Join(grant(ctx, p.admin, root), p.writeKubeconfig())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start an API server: %w", err), p.stop())
	}
	return p, nil
}

func (p *plane) stop() error { return errors.Join(p.environment.Stop(), os.RemoveAll(p.dir)) }

func (p *plane) writeKubeconfig() error {
	user, err := p.environment.AddUser(envtest.User{
		Name: operatorUser, Groups: []string{"system:serviceaccounts", "system:authenticated"},
	}, nil)
	if err != nil {
		return err
	}
	text, err := user.KubeConfig()
	if err != nil {
		return err
	}
	p.kubeconfig = filepath.Join(p.dir, "kubeconfig")
	return os.WriteFile(p.kubeconfig, text, 0o600)
}

// crdManifests are the CRDs with their patches.
func crdManifests(root string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(root, "config", "crd"))
	if err != nil {
		return nil, fmt.Errorf("build the CRDs: %w", err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, manifest := range built.Resources() {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(manifest.MustYaml()), crd); err != nil {
			return nil, fmt.Errorf("read %s: %w", manifest.GetName(), err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

// grant gives the operator what config/default gives it.
func grant(ctx context.Context, admin *rest.Config, root string) error {
	c, err := client.New(admin, client.Options{})
	if err != nil {
		return err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(root, "config", "default"))
	if err != nil {
		return fmt.Errorf("build the roles: %w", err)
	}
	wanted := []string{"Namespace", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
	for _, kind := range wanted { // a Role needs its namespace
		for _, manifest := range built.Resources() {
			if manifest.GetKind() != kind {
				continue
			}
			text, err := manifest.MarshalJSON()
			if err != nil {
				return err
			}
			object := &unstructured.Unstructured{}
			if err := object.UnmarshalJSON(text); err != nil {
				return err
			}
			if err := c.Create(ctx, object); err != nil {
				return fmt.Errorf("create %s %s: %w", kind, manifest.GetName(), err)
			}
		}
	}
	return nil
}
