// Command manager runs the controllers of etcd-operator.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the image has no time zones

	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/proxy"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers"
	"github.com/etcdpilot/etcd-operator/controllers/installation"
	"github.com/etcdpilot/etcd-operator/controllers/leadership"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// gcPercent is how much the heap may grow between collections. Most of it is caches, so Go's default of 100 would double the operator's
// memory for little gain: with a thousand idle clusters a collection is due every few seconds.
const gcPercent = 30

// maxPace has members asked once a second.
const maxPace = int(anomaly.Every / time.Second)

// sampleEvery is how often members are asked for their metrics, 0 for the usual time. Tests make it, the day that habits are made of, and the time
// for which a patch release is tried, shorter by that factor: nobody waits for a day. It is not for use.
func sampleEvery(pace string) (time.Duration, error) {
	if pace == "" {
		return 0, nil
	}
	factor, err := strconv.Atoi(pace)
	if err != nil || factor < 1 || factor > maxPace {
		return 0, fmt.Errorf("AUTOPILOT_PACE is %q: give a number from 1 to %d, or nothing", pace, maxPace)
	}
	return anomaly.Every / time.Duration(factor), nil
}

// newScheme has the kinds that the operator works with.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1beta2.AddToScheme, operatorsv2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("set up the scheme: %w", err)
		}
	}
	return scheme, nil
}

// newPool is how members are reached, at that pace.
func newPool(pace string) (*etcd.Pool, error) {
	every, err := sampleEvery(pace)
	if err != nil {
		return nil, err
	}
	pool := etcd.NewPool()
	pool.SampleEvery = every
	return pool, nil
}

// options are the command line.
type options struct {
	metricsAddress, healthAddress, pprofAddress string
	metricsCertDir                              string
	secureMetrics, leaderElection               bool
	namespaces, autopilot                       string
	controllers                                 controllers.Options
	log                                         zap.Options
}

func main() {
	o := options{}
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "address to serve metrics on, for example :8443; 0 disables it")
	flag.BoolVar(&o.secureMetrics, "metrics-secure", true, "serve metrics over HTTPS, with authentication and authorization by the API server")
	// OLM can set variables, and no arguments.
	flag.StringVar(&o.metricsCertDir, "metrics-cert-dir", os.Getenv("METRICS_CERT_DIR"),
		"folder with the certificate tls.crt and the key tls.key to serve metrics with; one that nobody can verify is made at each start if "+
			"empty (environment: METRICS_CERT_DIR)")
	flag.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "address to serve health probes on")
	// It exposes the operator's memory to every client: use it on the loopback interface only.
	flag.StringVar(&o.pprofAddress, "pprof-bind-address", "0",
		"address to serve pprof profiles on, without authentication, for example 127.0.0.1:6060; 0 disables it")
	flag.BoolVar(&o.leaderElection, "leader-elect", false, "elect a leader, so that one process of this installation acts at a time (several installations are kept apart by status.operator of each object)")
	flag.StringVar(&o.namespaces, "watch-namespaces", os.Getenv("WATCH_NAMESPACE"),
		"namespaces to watch, separated by commas; all if empty (environment: WATCH_NAMESPACE)")
	// Deployments of coreos/etcd-operator set it; here it is the default.
	clusterWide := flag.Bool("cluster-wide", false, "watch all namespaces, overriding --watch-namespaces")
	flag.StringVar(&o.controllers.OperatorImage, "operator-image", os.Getenv("OPERATOR_IMAGE"),
		"this operator's own image, which members copy member-run from (environment: OPERATOR_IMAGE)")
	flag.StringVar(&o.controllers.EtcdRepository, "etcd-repository", os.Getenv("ETCD_REPOSITORY"),
		"image repository of etcd for clusters without spec.repository; "+version.DefaultRepository+
			" if empty (environment: ETCD_REPOSITORY)")
	flag.StringVar(&o.autopilot, "autopilot", os.Getenv("AUTOPILOT"),
		"how far Auto Pilot goes in any cluster, whatever its spec says: Off, Advise or On; On if empty (environment: AUTOPILOT)")
	flag.IntVar(&o.controllers.Concurrency, "concurrent-reconciles", 100, "how many clusters to reconcile concurrently")
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
		ctrl.Log.Error(err, "operator exited with error")
		os.Exit(1)
	}
}

// agentEnv is the agents' environment for reaching object storage through the proxy that OLM, or the Deployment, has configured.
func agentEnv() []corev1.EnvVar {
	env, withheld := resources.ProxyEnv(proxy.ReadProxyVarsFromEnv())
	if len(withheld) > 0 {
		ctrl.Log.Info("these proxy variables hold a password, so they are not passed to the pods that reach object storage: set "+
			"a proxy without password if backups need one", "variables", withheld)
	}
	return env
}

func run(o options) error {
	if o.controllers.OperatorImage == "" {
		return fmt.Errorf("--operator-image (or OPERATOR_IMAGE) is not set: members copy member-run from that image")
	}
	if err := version.CheckRepository(o.controllers.EtcdRepository); err != nil {
		return fmt.Errorf("--etcd-repository (or ETCD_REPOSITORY) %w", err)
	}
	if err := checkCertificate(o.metricsCertDir); err != nil {
		return err
	}
	pool, err := newPool(os.Getenv("AUTOPILOT_PACE"))
	if err != nil {
		return err
	}
	defer pool.Close()
	if o.controllers.Autopilot, err = controllers.AutopilotMode(o.autopilot); err != nil {
		return err
	}
	if o.controllers.Pinned, err = version.PinnedBy(os.Environ()); err != nil {
		return err
	}
	if o.leaderElection {
		if o.controllers.Self, err = installation.Identity(installation.NamespaceFile); err != nil {
			return err
		}
	}
	o.controllers.Namespaces, o.controllers.OwnPods = listOf(o.namespaces), installation.OwnPods(installation.NamespaceFile)
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("load the kubeconfig: %w", err)
	}
	// There is no client-side rate limit: it would make clusters wait for each other, and the API server has its own (priority and
	// fairness).
	config.QPS = -1
	ctx := ctrl.SetupSignalHandler()
	if err := awaitAPI(ctx, config); err != nil {
		return err
	}
	if o.leaderElection {
		if o.controllers.Lease, err = installation.NewLock(config, o.controllers.Self); err != nil {
			return err
		}
	}
	mgr, err := ctrl.NewManager(config, managerOptions(o, scheme))
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	if err := controllers.Setup(ctx, mgr, pool, o.controllers); err != nil {
		return err
	}
	if err := addProbes(mgr); err != nil {
		return err
	}
	ctrl.Log.Info("starting", "version", version.Operator, "namespaces", o.namespaces, "lease", o.controllers.Self)
	return mgr.Start(ctx)
}

// checkCertificate has the operator end if there is no certificate where it was told to find one. Without this check, the metrics would
// be served with another one.
func checkCertificate(dir string) error {
	if dir == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")); err != nil {
		return fmt.Errorf("load the certificate of --metrics-cert-dir: %w", err)
	}
	return nil
}

// awaitAPI waits until the API server answers. To exit instead, as after a lost lease, would mean CrashLoopBackOff, with ever longer
// pauses.
func awaitAPI(ctx context.Context, config *rest.Config) error {
	const pause = time.Second
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("set up a client: %w", err)
	}
	err = wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		_, err := client.ServerVersionWithContext(ctx)
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

// addProbes adds the probes for the kubelet.
func addProbes(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("set up the health probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return fmt.Errorf("set up the readiness probe: %w", err)
	}
	return nil
}

func managerOptions(o options, scheme *runtime.Scheme) ctrl.Options {
	metrics := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.secureMetrics, CertDir: o.metricsCertDir}
	if o.secureMetrics {
		metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
		// HTTP/2 is disabled: its stream resets can be used to exhaust servers (CVE-2023-44487).
		metrics.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	options := ctrl.Options{
		Scheme: scheme, Metrics: metrics,
		HealthProbeBindAddress: o.healthAddress,
		PprofBindAddress:       o.pprofAddress,
		// The process exits when another one holds the Lease, so the Lease may be released at once.
		LeaderElectionReleaseOnCancel: true,
		// Managed fields are not needed here, and are as large as the rest of most objects.
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(), ByObject: controllers.Cached(), NewInformer: outage.NewInformer,
		},
	}
	if o.controllers.Lease != nil {
		options.LeaderElection = true
		options.LeaderElectionResourceLockInterface = o.controllers.Lease
		options.LeaseDuration, options.RenewDeadline = new(leadership.RenewFor+leadership.Term), new(leadership.RenewFor)
		options.RetryPeriod = new(leadership.Retry)
	}
	for _, namespace := range listOf(o.namespaces) {
		if options.Cache.DefaultNamespaces == nil {
			options.Cache.DefaultNamespaces = map[string]cache.Config{}
		}
		options.Cache.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// listOf is what a comma separates, without blanks.
func listOf(text string) []string {
	var list []string
	for _, entry := range strings.Split(text, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			list = append(list, entry)
		}
	}
	return list
}
