package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/olm"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/programs"
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

// RunningOLM is an Operator Lifecycle Manager that works.
type RunningOLM struct {
	// Version of OLM.
	Version string
	// Env makes programs of this machine, such as operator-sdk, find every image in the lab's registry, as the nodes do.
	Env map[string]string
	// UntarImage and StorageImage are what "operator-sdk scorecard" needs with --untar-image and --storage-image: its own
	// defaults are digests, which no other image can have.
	UntarImage, StorageImage string
}

// OLM is the Operator Lifecycle Manager of a lab, and what is offered to it.
type OLM struct{ lab *Lab }

// OLM returns the Operator Lifecycle Manager of the lab, which runs once it was started.
func (l *Lab) OLM() OLM { return OLM{l} }

// Start puts OLM into the cluster, built now if it never was, and makes available what OLM and operator-sdk start
// pods of. It waits until OLM works, and changes nothing if it does. Out gets lines that tell of progress; nil discards
// them.
func (o OLM) Start(ctx context.Context, out io.Writer) (RunningOLM, error) {
	builder, err := builder(out)
	if err != nil {
		return RunningOLM{}, err
	}
	tools, err := programs.EnsureTools(ctx, builder, olm.Tools())
	if err != nil {
		return RunningOLM{}, err
	}
	module, err := builder.ModuleDir(ctx, build.OLM, olm.Module)
	if err != nil {
		return RunningOLM{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, olmTimeout, fmt.Errorf("not ready within %v", olmTimeout))
	defer cancel()
	if err := o.apply(ctx, olm.ChartOf(module), tools); err != nil {
		return RunningOLM{}, err
	}
	if err := o.wait(ctx); err != nil {
		return RunningOLM{}, err
	}
	env, err := o.lab.RegistryEnvironment()
	if err != nil {
		return RunningOLM{}, err
	}
	sdk := tools[build.OperatorSDK].Version
	return RunningOLM{
		Version: tools[build.OLM].Version, Env: env,
		UntarImage: olm.UntarImage(sdk), StorageImage: olm.StorageImage(sdk),
	}, nil
}

// apply pushes OLM's images and applies its manifests.
func (o OLM) apply(ctx context.Context, chart olm.Chart, tools map[string]build.Tool) error {
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
	if err := o.applyFrom(ctx, nil, chart.CRDs()); err != nil {
		return err
	}
	_, err = o.lab.kubectl(ctx, nil, "wait", "--for=condition=Established", forever, "-f", chart.CRDs())
	if err != nil {
		return fmt.Errorf("wait for OLM's CRDs: %w", err)
	}
	return o.applyFrom(ctx, manifests, "-")
}

// applyFrom applies manifests from a folder, or from the input.
func (o OLM) applyFrom(ctx context.Context, input []byte, source string) error {
	// OLM writes to its own objects, too: the chart is what counts.
	_, err := o.lab.kubectl(ctx, input, "apply", "--server-side", "--force-conflicts", "-f", source)
	if err != nil {
		return fmt.Errorf("put OLM into the cluster: %w", err)
	}
	return nil
}

// forever leaves it to the context how long kubectl waits.
const forever = "--timeout=-1s"

// wait waits until OLM has installed the last part of itself, which OLM does as it installs any operator.
func (o OLM) wait(ctx context.Context) error {
	for _, name := range []string{"deployment/olm-operator", "deployment/catalog-operator"} {
		if err := o.lab.rolledOut(ctx, olm.Namespace, name); err != nil {
			return err
		}
	}
	_, err := o.lab.kubectl(ctx, nil, "wait", "--namespace="+olm.Namespace, "clusterserviceversion/packageserver",
		"--for=jsonpath={.status.phase}=Succeeded", forever)
	if err != nil {
		return fmt.Errorf("wait for OLM: %w", errors.Join(err, o.lab.explain(ctx, olm.Namespace)))
	}
	return nil
}

// LoadBundle makes an image of a bundle, in a folder as operator-sdk writes it, and makes it available to the cluster
// under a reference. It holds what bundle.Dockerfile makes.
func (o OLM) LoadBundle(ctx context.Context, reference, folder string) error {
	spec, err := image.Bundle(folder)
	if err != nil {
		return err
	}
	return o.lab.LoadSpec(ctx, reference, spec)
}

// LoadCatalog makes an image of a file-based catalog, whose folder holds one folder for each package, and makes it
// available to the cluster under a reference. It serves the catalog, and a CatalogSource may as well only take the files
// from /configs. Out gets lines that tell of progress; nil discards them.
func (o OLM) LoadCatalog(ctx context.Context, reference, folder string, out io.Writer) error {
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
	return o.lab.LoadSpec(ctx, reference, spec)
}
