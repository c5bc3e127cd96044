package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// BesideNamespace and BesideDeployment are those of a second operator.
const (
	BesideNamespace  = "beside-system"
	BesideDeployment = "beside-controller-manager"
)

// beside is a second installation: all of config/default that an operator must have of its own, and nothing that two share,
// such as the CRDs.
const beside = `namespace: beside-system
namePrefix: beside-
resources: [../rbac, ../manager]
replacements:
- source:
    kind: Deployment
    name: controller-manager
    fieldPath: spec.template.spec.containers.[name=manager].image
  targets:
  - select: {kind: Deployment, name: controller-manager}
    fieldPaths:
    - spec.template.spec.containers.[name=manager].env.[name=OPERATOR_IMAGE].value
`

// DeployBeside installs a second operator, in a namespace of its own and for all namespaces, and waits until it is ready.
func (e *Env) DeployBeside(ctx context.Context) error {
	err := e.runBeside(ctx, "apply", "--server-side", "--force-conflicts")
	if err != nil {
		return err
	}
	return e.Run(ctx, "rollout", "status", "--timeout=3m", "-n", BesideNamespace, "deployment/"+BesideDeployment)
}

// RemoveBeside removes the second operator, with all that is not in its namespace, and waits until it is gone.
func (e *Env) RemoveBeside(ctx context.Context) error {
	return e.runBeside(ctx, "delete", "--ignore-not-found", "--wait")
}

// runBeside runs kubectl on the manifests of the second operator.
func (e *Env) runBeside(ctx context.Context, args ...string) error {
	return e.withManifests(func(config string) error {
		overlay := filepath.Join(config, "beside")
		if err := os.Mkdir(overlay, 0o700); err != nil {
			return fmt.Errorf("write the second operator's manifests: %w", err)
		}
		if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(beside), 0o600); err != nil {
			return fmt.Errorf("write the second operator's manifests: %w", err)
		}
		return e.Run(ctx, append(args, "-k", overlay)...)
	})
}
