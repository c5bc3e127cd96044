package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clientConfig is by which a test is a client of a member, nil if clients are told to use no TLS.
func (c *Cluster) clientConfig(pod corev1.Pod) (*tls.Config, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	object, err := c.Get(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(object.Status.Endpoints, func(url string) bool { return strings.HasPrefix(url, "https://") }) {
		return nil, nil //nolint:nilnil // plain text
	}
	secret := &corev1.Secret{}
	err = c.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name + "-client"}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // plain text
	}
	if err != nil {
		return nil, fmt.Errorf("read the certificate for applications: %w", err)
	}
	pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
	if err != nil {
		return nil, fmt.Errorf("read the certificate for applications: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data["ca.crt"])
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: roots,
		ServerName: pod.Name + "." + c.Name + "." + c.Namespace + ".svc",
	}, nil
}

// DialOptions have the client verify the member's name: by itself it verifies the address.
func DialOptions(config *tls.Config) []grpc.DialOption {
	if config == nil {
		return nil
	}
	return []grpc.DialOption{grpc.WithAuthority(config.ServerName)}
}
