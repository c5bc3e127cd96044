package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// SelfSignedIssuer is the name of the ClusterIssuer of that type that is there with cert-manager.
const SelfSignedIssuer = addons.SelfSigned

const (
	// certManagerComponent is the process of its controllers, and the user that they are to the API server.
	certManagerComponent = "cert-manager"
	certManagerModule    = "github.com/cert-manager/cert-manager"
	// certManagerTimeout bounds the start of cert-manager once it is built.
	certManagerTimeout = 2 * time.Minute
)

// CertManager is cert-manager: CRDs in the cluster, and its own controllers, for issuers of the types CA and SelfSigned, in a process of
// this machine. Its webhook is left out: the CRDs have one version and name no webhook, which would only refuse what cannot work.
type CertManager struct{ lab *Lab }

// CertManager returns the lab's cert-manager, whether or not it runs.
func (l *Lab) CertManager() CertManager { return CertManager{l} }

// Start installs cert-manager, which is built first if it never was, and waits until it works. It runs until Down. If it runs already,
// nothing changes. Out gets lines that tell of progress; nil discards them.
func (c CertManager) Start(ctx context.Context, out io.Writer) error {
	builder, err := builder(out)
	if err != nil {
		return err
	}
	module := filepath.Join(builder.Root, "test", "certmanager")
	source, err := build.RequiredDir(ctx, module, certManagerModule)
	if err != nil {
		return err
	}
	program := filepath.Join(c.lab.state.Join("bin"), certManagerComponent)
	if err := compile(ctx, module, ".", program); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, certManagerTimeout, fmt.Errorf("not ready within %v", certManagerTimeout))
	defer cancel()
	if err := c.install(ctx, filepath.Join(source, "deploy", "crds")); err != nil {
		return fmt.Errorf("put cert-manager into the cluster: %w", err)
	}
	return c.run(ctx, program)
}

// install applies all that cert-manager needs, of which the CRDs are in a folder.
func (c CertManager) install(ctx context.Context, crds string) error {
	if _, err := c.lab.kubectl(ctx, nil, "apply", "--server-side", "-f", crds); err != nil {
		return err
	}
	if _, err := c.lab.kubectl(ctx, nil, "wait", "--for=condition=Established", forever, "-f", crds); err != nil {
		return err
	}
	objects, err := addons.CertManager(certManagerComponent)
	if err != nil {
		return err
	}
	_, err = c.lab.kubectl(ctx, objects, "apply", "--server-side", "-f", "-")
	return err
}

// run starts the controllers if they do not run, and waits until they have looked at an issuer.
func (c CertManager) run(ctx context.Context, program string) error {
	if err := c.lab.certs.EnsureCert(certManagerComponent, pki.Subject{CommonName: certManagerComponent}); err != nil {
		return err
	}
	kubeconfig := controlplane.Kubeconfig(c.lab.state, certManagerComponent)
	if err := c.lab.certs.WriteKubeconfig(kubeconfig, controlplane.Server, certManagerComponent); err != nil {
		return err
	}
	record, err := c.lab.ensure(certManagerComponent, program, "--kubeconfig="+kubeconfig,
		"--cluster-resource-namespace="+addons.CertManagerNamespace)
	if err != nil {
		return err
	}
	return record.WaitReady(ctx, func(ctx context.Context) error {
		const once = "--timeout=2s"
		_, err := c.lab.kubectl(ctx, nil, "wait", "--for=condition=Ready", once, "clusterissuer/"+SelfSignedIssuer)
		return err
	})
}

// restart starts what should run.
func (c CertManager) restart(ctx context.Context, out io.Writer) error {
	if _, err := process.Read(c.lab.recordFile(certManagerComponent)); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return c.Start(ctx, out)
}
