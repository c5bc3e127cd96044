package harness

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// AskAs is Ask by a client whose certificate has that common name, signed by the cluster's own authority.
func (c *Cluster) AskAs(ctx context.Context, name string, question func(context.Context, *clientv3.Client) error) error {
	certificate, err := c.issue(ctx, name)
	if err != nil {
		return err
	}
	return c.ask(ctx, func(pod corev1.Pod) (*clientv3.Client, error) {
		config, err := c.clientConfig(pod)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{certificate}
		return connect(pod, config, "", "")
	}, question)
}

// AskWithPassword is Ask by a user who logs in, and whose certificate is that for applications.
func (c *Cluster) AskWithPassword(ctx context.Context, user, password string, question func(context.Context, *clientv3.Client) error) error {
	return c.ask(ctx, func(pod corev1.Pod) (*clientv3.Client, error) {
		config, err := c.clientConfig(pod)
		if err != nil {
			return nil, err
		}
		return connect(pod, config, user, password)
	}, question)
}

// issue makes a certificate, as only the operator should.
func (c *Cluster) issue(ctx context.Context, name string) (made tls.Certificate, err error) {
	secret := &corev1.Secret{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name + "-ca"}, secret); err != nil {
		return made, fmt.Errorf("read the authority: %w", err)
	}
	authority, err := pki.ParsePair(pki.Text{Name: "server.crt", PEM: secret.Data["server.crt"]}, pki.Text{Name: "server.key", PEM: secret.Data["server.key"]})
	if err != nil {
		return made, fmt.Errorf("read the authority: %w", err)
	}
	leaf, err := pki.Issue(rand.Reader, authority, pki.Request{
		CommonName: name, Now: time.Now(), Lifetime: time.Hour, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return made, fmt.Errorf("issue a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{leaf.Leaf().Raw}, PrivateKey: leaf.Key}, nil
}
