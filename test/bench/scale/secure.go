package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// errNoCertificate is the answer of a member that has none yet.
var errNoCertificate = errors.New("the member has no certificate")

// transport has every member present the certificate of its own Secret, as etcd does; none without TLS.
func (w *world) transport() []grpc.ServerOption {
	if !w.tls {
		return nil
	}
	return []grpc.ServerOption{grpc.Creds(credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAnyClientCert,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return w.certificate(hello.Conn.LocalAddr())
		},
	}))}
}

func (w *world) certificate(local net.Addr) (*tls.Certificate, error) {
	n := w.at(local)
	if n == nil {
		return nil, errNoCertificate
	}
	n.ensemble.mu.Lock()
	defer n.ensemble.mu.Unlock()
	if n.pair == nil {
		return nil, errNoCertificate
	}
	return n.pair, nil
}

// mount gives a member the certificate that its pod mounts, before it starts.
func (k *kubelet) mount(ctx context.Context, pod *corev1.Pod, n *node) error {
	if resources.TrustOf(pod) == "" || n.started() {
		return nil
	}
	secret := &corev1.Secret{}
	name := types.NamespacedName{Namespace: pod.Namespace, Name: certificates.MemberName(pod.Name)}
	if err := k.client.Get(ctx, name, secret); err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(secret.Data["server.crt"], secret.Data["server.key"])
	if err != nil {
		return fmt.Errorf("read Secret %s: %w", name, err)
	}
	n.ensemble.mu.Lock()
	defer n.ensemble.mu.Unlock()
	n.pair = &pair
	return nil
}
