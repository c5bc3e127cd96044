package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// Credentials are a client's certificate with its key, and the authorities to trust, in PEM.
type Credentials struct{ Certificate, Key, CA []byte }

// Credentials are those to talk to the members of a cluster with; nil for plain text.
func (a *Access) Credentials(ctx context.Context, seen *Seen) (*Credentials, error) {
	if !slices.ContainsFunc(seen.Pods, func(p corev1.Pod) bool { return resources.PodTransport(&p).ServesClientTLS() }) {
		return nil, nil
	}
	name := a.secretOf(seen.Object)
	if name == "" {
		return nil, errors.New("members talk to clients with certificates of yours only, which this program does not have: doctor, move-leader, defrag, " +
			"promote and ctl take the Secret with one with --secret")
	}
	secret := &corev1.Secret{}
	if err := a.client.Get(ctx, client.ObjectKey{Namespace: a.namespace, Name: name}, secret); err != nil {
		return nil, fmt.Errorf("members talk to clients with certificates only, which are in the Secret %s: %w", name, err)
	}
	return credentialsIn(name, secret.Data)
}

// secretOf is the Secret with the certificate to talk to the members of a cluster with, empty if none is known.
func (a *Access) secretOf(c *v1beta2.EtcdCluster) string {
	if a.Secret != "" || c.Spec.ManagedTLS() == nil { // a Secret that is left from before is not renewed
		return a.Secret
	}
	return certificates.ClientName(c.Name)
}

// credentialsIn reads a Secret for applications, or one as agents have it.
func credentialsIn(name string, data map[string][]byte) (*Credentials, error) {
	for _, keys := range [][3]string{
		{certificates.KeyCertificate, certificates.KeyKey, certificates.KeyCA},
		{certificates.KeyClientCertificate, certificates.KeyClientKey, certificates.KeyClientCA},
	} {
		c := &Credentials{data[keys[0]], data[keys[1]], data[keys[2]]}
		if len(c.Certificate) > 0 && len(c.Key) > 0 && len(c.CA) > 0 {
			return c, nil
		}
	}
	return nil, fmt.Errorf("the Secret %s has no certificate of a client: it needs %s, %s and %s", name,
		certificates.KeyCertificate, certificates.KeyKey, certificates.KeyCA)
}

// credentials are the same, for a connection.
func (a *Access) credentials(ctx context.Context, seen *Seen) (*tls.Config, error) {
	c, err := a.Credentials(ctx, seen)
	if c == nil || err != nil {
		return nil, err
	}
	config, err := pki.ClientConfig(c.Certificate, c.Key, c.CA)
	if err != nil {
		return nil, fmt.Errorf("the Secret with the certificate to talk to members with: %w", err)
	}
	return config, nil
}
