package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/olm"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/programs"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/registry"
)

// Namespaces of OLM.
const (
	// OLMNamespace is where OLM itself is; a CatalogSource there is for all namespaces.
	OLMNamespace = olm.Namespace
	// OperatorNamespace has an OperatorGroup for operators that watch all namespaces.
	OperatorNamespace = olm.OperatorNamespace
)

// olmTimeout bounds the start of OLM once its programs are built.
const olmTimeout = 5 * time.Minute

// OLM is a running Operator Lifecycle Manager.
type OLM struct {
	// Version of OLM.
	Version string
	// Env makes programs of this machine, such as operator-sdk, find every image in the lab's registry, as the nodes do.
	Env map[string]string
	// UntarImage and StorageImage are what "operator-sdk scorecard" needs with --untar-image and --storage-image: its own
	// defaults are digests, which no other image can have.
	UntarImage, StorageImage string
}

// StartOLM puts OLM into the cluster, built now if it never was, and makes available what OLM and operator-sdk start
// pods of. It waits until OLM works, and changes nothing if it does. Out gets lines that tell of progress; nil discards
// them.
func (l *Lab) StartOLM(ctx context.Context, out io.Writer) (OLM, error) {
	builder, err := builder(out)
	if err != nil {
		return OLM{}, err
	}
	tools, err := programs.EnsureTools(ctx, builder, olm.Tools())
	if err != nil {
		return OLM{}, err
	}
	module, err := builder.ModuleDir(ctx, build.OLM, olm.Module)
	if err != nil {
		return OLM{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, olmTimeout, fmt.Errorf("not ready within %v", olmTimeout))
	defer cancel()
	if err := l.applyOLM(ctx, olm.ChartOf(module), tools); err != nil {
		return OLM{}, err
	}
	if err := l.waitOLM(ctx); err != nil {
		return OLM{}, err
	}
	env, err := registry.ProxyEnvironment(l.state.RegistryPKI())
	if err != nil {
		return OLM{}, err
	}
	sdk := tools[build.OperatorSDK].Version
	return OLM{
		Version: tools[build.OLM].Version, Env: env,
		UntarImage: olm.UntarImage(sdk), StorageImage: olm.StorageImage(sdk),
	}, nil
}

// applyOLM pushes OLM's images and applies its manifests.
func (l *Lab) applyOLM(ctx context.Context, chart olm.Chart, tools map[string]build.Tool) error {
	busybox, err := addons.Busybox(ctx)
	if err != nil {
		return err
	}
	if err := pushAll(ctx, olm.Images(tools, busybox.Spec)); err != nil {
		return err
	}
	manifests, err := chart.Render(ctx, tools[build.Helm].Path(build.Helm), tools[build.OLM].Version)
	if err != nil {
		return err
	}
	if err := l.applyOLMFrom(ctx, nil, chart.CRDs()); err != nil {
		return err
	}
	_, err = l.kubectl(ctx, nil, "wait", "--for=condition=Established", forever, "-f", chart.CRDs())
	if err != nil {
		return fmt.Errorf("wait for OLM's CRDs: %w", err)
	}
	return l.applyOLMFrom(ctx, manifests, "-")
}

// applyOLMFrom applies manifests from a folder, or from the input.
func (l *Lab) applyOLMFrom(ctx context.Context, input []byte, source string) error {
	// OLM writes to its own objects, too: the chart is what counts.
	_, err := l.kubectl(ctx, input, "apply", "--server-side", "--force-conflicts", "-f", source)
	if err != nil {
		return fmt.Errorf("put OLM into the cluster: %w", err)
	}
	return nil
}

// forever leaves it to the context how long kubectl waits.
const forever = "--timeout=-1s"

// waitOLM waits until OLM has installed the last part of itself, which OLM does as it installs any operator.
func (l *Lab) waitOLM(ctx context.Context) error {
	for _, name := range []string{"deployment/olm-operator", "deployment/catalog-operator"} {
		if err := l.rolledOut(ctx, olm.Namespace, name); err != nil {
			return err
		}
	}
	_, err := l.kubectl(ctx, nil, "wait", "--namespace="+olm.Namespace, "clusterserviceversion/packageserver",
		"--for=jsonpath={.status.phase}=Succeeded", forever)
	if err != nil {
		return fmt.Errorf("wait for OLM: %w", errors.Join(err, l.explain(ctx, olm.Namespace)))
	}
	return nil
}

// LoadBundle makes an image of a bundle, in a folder as operator-sdk writes it, and makes it available to the cluster
// under a reference. It holds what bundle.Dockerfile makes.
func (l *Lab) LoadBundle(ctx context.Context, reference, folder string) error {
	spec, err := olm.Bundle(folder)
	if err != nil {
		return err
	}
	return l.LoadSpec(ctx, reference, spec)
}

// LoadCatalog makes an image of a file-based catalog, whose folder holds one folder for each package, and makes it
// available to the cluster under a reference. It serves the catalog, and a CatalogSource may as well only take the files
// from /configs. Out gets lines that tell of progress; nil discards them.
func (l *Lab) LoadCatalog(ctx context.Context, reference, folder string, out io.Writer) error {
	builder, err := builder(out)
	if err != nil {
		return err
	}
	tools, err := programs.EnsureTools(ctx, builder, olm.ServerTools())
	if err != nil {
		return err
	}
	busybox, err := addons.Busybox(ctx)
	if err != nil {
		return err
	}
	spec, err := olm.Catalog(folder, tools, busybox.Spec)
	if err != nil {
		return err
	}
	return l.LoadSpec(ctx, reference, spec)
}
