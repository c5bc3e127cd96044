// Command manager runs the controllers of etcd-operator.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
	_ "time/tzdata" // the image has no time zones

	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/proxy"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers"
	"github.com/etcdpilot/etcd-operator/controllers/claims"
	"github.com/etcdpilot/etcd-operator/controllers/leadership"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// gcPercent is how much the heap may grow between collections. Most of it are caches that stay, so that Go's own 100
// would double the operator's memory for little: with a thousand idle clusters a collection is due every few seconds.
const gcPercent = 30

// options are the command line.
type options struct {
	metricsAddress, healthAddress, pprofAddress string
	secureMetrics, leaderElection               bool
	namespaces                                  string
	controllers                                 controllers.Options
	log                                         zap.Options
}

func main() {
	o := options{}
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "where to serve metrics, for example :8443; 0 is nowhere")
	flag.BoolVar(&o.secureMetrics, "metrics-secure", true, "serve metrics over HTTPS, to those whom the API server allows")
	flag.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "where to serve health probes")
	// Whoever reaches it can read the operator's memory: it is for the loopback interface.
	flag.StringVar(&o.pprofAddress, "pprof-bind-address", "0",
		"where to serve profiles of this process, to anybody, for example 127.0.0.1:6060; 0 is nowhere")
	flag.BoolVar(&o.leaderElection, "leader-elect", false, "let one process of this installation act at a time (what keeps several installations apart is status.operator of each object)")
	flag.StringVar(&o.namespaces, "watch-namespaces", os.Getenv("WATCH_NAMESPACE"),
		"namespaces to watch, separated by commas; all if empty (environment: WATCH_NAMESPACE)")
	// Deployments of coreos/etcd-operator say it; here it is the default.
	clusterWide := flag.Bool("cluster-wide", false, "watch all namespaces, whatever --watch-namespaces says")
	flag.StringVar(&o.controllers.OperatorImage, "operator-image", os.Getenv("OPERATOR_IMAGE"),
		"this operator's own image, from which members take member-run (environment: OPERATOR_IMAGE)")
	flag.StringVar(&o.controllers.EtcdRepository, "etcd-repository", os.Getenv("ETCD_REPOSITORY"),
		"where etcd's images come from for clusters without spec.repository; "+version.DefaultRepository+
			" if empty (environment: ETCD_REPOSITORY)")
	flag.IntVar(&o.controllers.Concurrency, "concurrent-reconciles", 100, "how many clusters to look after at the same time")
	o.log.BindFlags(flag.CommandLine)
	flag.Parse()
	if *clusterWide {
		o.namespaces = ""
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.log)))
	o.controllers.AgentEnv = agentEnv()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if err := run(o); err != nil {
		ctrl.Log.Error(err, "the operator ends")
		os.Exit(1)
	}
}

// agentEnv is how agents reach object storage if OLM, or whoever else, has told the operator of a proxy.
func agentEnv() []corev1.EnvVar {
	env, withheld := resources.ProxyEnv(proxy.ReadProxyVarsFromEnv())
	if len(withheld) > 0 {
		ctrl.Log.Info("these variables hold a password and are not handed to the pods that reach object storage: give the "+
			"operator a proxy without one, if backups need it", "variables", withheld)
	}
	return env
}

func run(o options) error {
	if o.controllers.OperatorImage == "" {
		return fmt.Errorf("--operator-image (or OPERATOR_IMAGE) is not set: members take member-run from that image")
	}
	if o.leaderElection {
		var err error
		if o.controllers.Self, err = identity(inClusterNamespace); err != nil {
			return err
		}
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1beta2.AddToScheme, operatorsv2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("set the scheme up: %w", err)
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	// There is no limit on requests per second: it would make clusters wait for each other, and the API server shares itself
	// out fairly (priority and fairness).
	config.QPS = -1
	ctx := ctrl.SetupSignalHandler()
	if err := awaitAPI(ctx, config); err != nil {
		return err
	}
	if o.leaderElection {
		if o.controllers.Lease, err = lock(config, o.controllers.Self); err != nil {
			return err
		}
	}
	mgr, err := ctrl.NewManager(config, managerOptions(o, scheme))
	if err != nil {
		return fmt.Errorf("set the manager up: %w", err)
	}
	pool := etcd.NewPool()
	defer pool.Close()
	if err := controllers.Setup(mgr, pool, o.controllers); err != nil {
		return err
	}
	if err := addProbes(mgr); err != nil {
		return err
	}
	ctrl.Log.Info("starting", "version", version.Operator, "namespaces", o.namespaces, "lease", o.controllers.Self)
	return mgr.Start(ctx)
}

// inClusterNamespace is where Kubernetes tells a process in which namespace it runs.
const inClusterNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// identity is what tells this operator from those of other installations, and stays the same from one version to the next: the
// Lease of its leader election.
func identity(file string) (claim.Operator, error) {
	namespace, err := os.ReadFile(file)
	if err != nil {
		return claim.Operator{}, fmt.Errorf("find the namespace of the Lease (outside of Kubernetes, start without --leader-elect): %w", err)
	}
	return claim.Operator{Namespace: strings.TrimSpace(string(namespace)), Lease: claims.LeaseName}, nil
}

// lock is the Lease of this operator, for this process to hold. A request for it must not take half of the time that others wait.
func lock(config *rest.Config, self claim.Operator) (*leadership.Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("look up this machine's name: %w", err)
	}
	lease, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, self.Namespace, self.Lease,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}, config, leadership.Term/2)
	if err != nil {
		return nil, fmt.Errorf("set the Lease %s up: %w", self, err)
	}
	return leadership.NewLock(lease, clock.RealClock{}), nil
}

// awaitAPI waits until the API server answers. To end instead, as after a lost lease, would mean to be started again later
// and later.
func awaitAPI(ctx context.Context, config *rest.Config) error {
	const pause = time.Second
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("set a client up: %w", err)
	}
	err = wait.PollUntilContextCancel(ctx, pause, true, func(context.Context) (bool, error) {
		_, err := client.ServerVersion()
		if err != nil {
			ctrl.Log.Info("waiting for the API server", "error", err.Error())
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the API server: %w", err)
	}
	return nil
}

// addProbes has the manager answer the kubelet.
func addProbes(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("set the health probe up: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return fmt.Errorf("set the readiness probe up: %w", err)
	}
	return nil
}

func managerOptions(o options, scheme *runtime.Scheme) ctrl.Options {
	metrics := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.secureMetrics}
	if o.secureMetrics {
		metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
		// HTTP/2 is off: its stream resets have been a way to exhaust servers (CVE-2023-44487).
		metrics.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	options := ctrl.Options{
		Scheme: scheme, Metrics: metrics,
		HealthProbeBindAddress: o.healthAddress,
		PprofBindAddress:       o.pprofAddress,
		// The process ends when it has lost the lease, so the lease may be given back at once.
		LeaderElectionReleaseOnCancel: true,
		// Who set which field is of no interest here, and as large as the rest of most objects.
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(), ByObject: controllers.Cached(), NewInformer: outage.NewInformer,
		},
	}
	if o.controllers.Lease != nil {
		options.LeaderElection = true
		options.LeaderElectionResourceLockInterface = o.controllers.Lease
		options.LeaseDuration, options.RenewDeadline = new(leadership.Patience+leadership.Term), new(leadership.Patience)
		options.RetryPeriod = new(leadership.Retry)
	}
	for _, namespace := range strings.Split(o.namespaces, ",") {
		if namespace = strings.TrimSpace(namespace); namespace != "" {
			if options.Cache.DefaultNamespaces == nil {
				options.Cache.DefaultNamespaces = map[string]cache.Config{}
			}
			options.Cache.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return options
}
