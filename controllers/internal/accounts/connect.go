package accounts

import (
	"context"
	"crypto/tls"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// connect connects to the cluster's etcd, which has to be closed. Config is that of its Secret, nil without TLS.
func (t Target) connect(ctx context.Context, reader client.Reader, config *tls.Config) (*etcd.Accounts, *failure.Problem, error) {
	pods := &corev1.PodList{}
	err := reader.List(ctx, pods, client.InNamespace(t.Cluster.Namespace), client.MatchingLabels(resources.ClusterSelector(t.Cluster.Name)))
	if err != nil {
		return nil, nil, fmt.Errorf("list Pods: %w", err)
	}
	id, err := strconv.ParseUint(t.Cluster.Status.ClusterID, 16, 64)
	if err != nil {
		return nil, waiting(t.Cluster, "has a status.clusterID that is no ID: "+err.Error()), nil //nolint:nilerr // the condition has it
	}
	to, err := etcd.Administer(ctx, config, id, endpoints(t.Cluster, pods.Items))
	if err != nil {
		return nil, Unanswered(err), nil
	}
	return to, nil, nil
}

// configOf is by which the operator is a client of the members, nil without TLS. It has the rights of root, as the agents do, by the
// Secret of their certificate: read from the API server, because no Secret is ever cached.
func configOf(ctx context.Context, live client.Reader, c *v1beta2.EtcdCluster) (*tls.Config, *failure.Problem, error) {
	name := agentpod.TLSSecret(c)
	if name == "" {
		return nil, nil, nil // plain text
	}
	secret := &corev1.Secret{}
	err := live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, waiting(c, fmt.Sprintf("has no Secret %s yet, by which the operator connects: see its conditions", name)), nil
	case apierrors.IsForbidden(err):
		return nil, waiting(c, fmt.Sprintf("has a Secret %s that the operator may not read: %v", name, err)), nil
	case err != nil:
		return nil, nil, fmt.Errorf("read Secret %s: %w", name, err)
	case !metav1.IsControlledBy(secret, c):
		return nil, waiting(c, fmt.Sprintf("does not own Secret %s, by which the operator would connect: delete the Secret", name)), nil
	}
	config, err := pki.ClientConfig(
		secret.Data[certificates.KeyClientCertificate], secret.Data[certificates.KeyClientKey], secret.Data[certificates.KeyClientCA])
	if err != nil {
		return nil, waiting(c, fmt.Sprintf("has a Secret %s by which the operator cannot connect: %v; see its conditions", name, err)), nil
	}
	return config, nil, nil
}

func waiting(c *v1beta2.EtcdCluster, why string) *failure.Problem {
	return &failure.Problem{Reason: v1beta2.ReasonWaitingForCluster, Message: "EtcdCluster " + c.Name + " " + why}
}

// selfOf is the user of etcd that a client with this configuration is, empty if it is nobody.
func selfOf(config *tls.Config) string {
	if config == nil {
		return ""
	}
	return config.Certificates[0].Leaf.Subject.CommonName
}
