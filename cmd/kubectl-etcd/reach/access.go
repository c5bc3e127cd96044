// Package reach is how the plugin gets to the API server, and through it to members and their etcds.
package reach

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// Access is to one namespace, with the rights of whoever runs the plugin.
type Access struct {
	// Secret is the one with the certificate to talk to members with; that for the cluster's applications if it is empty.
	Secret string

	config    *rest.Config
	client    client.Client
	namespace string
}

// Server is the address of the Kubernetes API server.
func (a *Access) Server() string { return a.config.Host }

// Open uses the kubeconfig and the flags that all of kubectl has. It makes no request.
func Open(flags *genericclioptions.ConfigFlags) (*Access, error) {
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	if err := configured(flags, config); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(authorizationv1.AddToScheme(scheme))
	utilruntime.Must(coordinationv1.AddToScheme(scheme))
	utilruntime.Must(policyv1.AddToScheme(scheme))
	utilruntime.Must(v1beta2.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return &Access{config: config, client: c, namespace: namespace}, nil
}

// configured says that there is no kubeconfig where client-go falls back to a port of this machine that nobody has chosen.
func configured(flags *genericclioptions.ConfigFlags, config *rest.Config) error {
	raw, err := flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	chosen := flags.APIServer != nil && *flags.APIServer != "" || os.Getenv("KUBERNETES_MASTER") != ""
	if chosen || !clientcmdapi.IsConfigEmpty(&raw) || config.Host != clientcmd.ClusterDefaults.Server {
		return nil
	}
	is := cmp.Or(os.Getenv(clientcmd.RecommendedConfigPathEnvVar), "not set")
	return fmt.Errorf("no kubeconfig is found (%s is %s): set it, or give --kubeconfig", clientcmd.RecommendedConfigPathEnvVar, is)
}

// Seen is what the API server has of a cluster.
type Seen struct {
	Object *v1beta2.EtcdCluster
	// Pods are those of the members that status names.
	Pods []corev1.Pod
	// Backups are those of the cluster, nil if they could not be read.
	Backups []v1beta2.EtcdBackup
	// Problems say what could not be read; PodsUnlisted is why, if it is the pods.
	Problems     []string
	PodsUnlisted error
}

// Cluster reads what the API server has. The error is for a person.
func (a *Access) Cluster(ctx context.Context, name string) (*Seen, error) {
	seen := &Seen{Object: &v1beta2.EtcdCluster{}}
	if err := a.client.Get(ctx, client.ObjectKey{Namespace: a.namespace, Name: name}, seen.Object); err != nil {
		return nil, a.explain(ctx, name, err)
	}
	pods := &corev1.PodList{}
	of := client.MatchingLabels(resources.ClusterSelector(name))
	if err := a.client.List(ctx, pods, client.InNamespace(a.namespace), of); err != nil {
		seen.PodsUnlisted = err
		seen.Problems = append(seen.Problems, fmt.Sprintf("the members were not asked, so this is what the operator saw last: list their pods: %v", err))
	}
	for _, p := range pods.Items {
		if owner := ownerOf(p); owner == string(seen.Object.UID) && isMember(seen.Object, p.Name) {
			seen.Pods = append(seen.Pods, p)
		}
	}
	var err error
	if seen.Backups, err = a.Backups(ctx, name); err != nil {
		seen.Problems = append(seen.Problems, fmt.Sprintf("whether it is backed up is not known: %v", err))
	}
	return seen, nil
}

// Names are those of all EtcdClusters of the namespace.
func (a *Access) Names(ctx context.Context) ([]string, error) {
	list := &v1beta2.EtcdClusterList{}
	if err := a.client.List(ctx, list, client.InNamespace(a.namespace)); err != nil {
		return nil, err
	}
	var names []string
	for _, c := range list.Items {
		names = append(names, c.Name)
	}
	return names, nil
}

// explain says what to do about an EtcdCluster that cannot be read.
func (a *Access) explain(ctx context.Context, name string, err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("this Kubernetes cluster has no EtcdClusters: etcd-operator is not installed")
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("read EtcdCluster %s: %w", name, err)
	}
	names, listed := a.Names(ctx)
	switch {
	case listed != nil:
		return fmt.Errorf("namespace %s has no EtcdCluster %s", a.namespace, name)
	case len(names) == 0:
		return fmt.Errorf("namespace %s has no EtcdClusters: choose another one with -n", a.namespace)
	default:
		return fmt.Errorf("namespace %s has no EtcdCluster %s, but %q: choose one of these, or another namespace with -n", a.namespace, name, names)
	}
}

// isMember reports whether the operator counts a pod of that name as a member's: whoever may create pods can label theirs like those.
func isMember(c *v1beta2.EtcdCluster, name string) bool {
	return slices.ContainsFunc(c.Status.MemberStatuses, func(m v1beta2.MemberStatus) bool { return m.Name == name })
}

func ownerOf(pod corev1.Pod) string {
	for _, o := range pod.OwnerReferences {
		if o.Controller != nil && *o.Controller {
			return string(o.UID)
		}
	}
	return ""
}
