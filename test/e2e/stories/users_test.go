package stories

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestUsers has users log in by certificate and by password to a cluster with authentication, and do what their role
// says and nothing else, while the role, the password and the authorities are changed.
func TestUsers(t *testing.T) {
	t.Parallel()
	s := begin(t, "users", overTLS(3))
	s.settled()
	r := s.reader()
	s.followsUsers(r)
	s.secret("password", map[string]string{"password": "first"})
	app := v1beta2.EtcdClusterRef{Name: s.Name}
	role := &v1beta2.EtcdRole{ObjectMeta: s.object("app")} // the document's
	byCertificate := &v1beta2.EtcdUser{ObjectMeta: s.object("bycert"), Spec: v1beta2.EtcdUserSpec{
		EtcdCluster: app, ClientCertificate: &v1beta2.UserCertificate{SecretName: "bycert-tls"}, Roles: []string{"app"},
	}}
	byPassword := &v1beta2.EtcdUser{ObjectMeta: s.object("byname"), Spec: v1beta2.EtcdUserSpec{
		EtcdCluster: app, PasswordSecretRef: &v1beta2.SecretKeyRef{Name: "password"}, Roles: []string{"app"},
	}}
	for _, o := range []client.Object{byCertificate, byPassword} {
		must(t, env.Create(t.Context(), o))
	}
	for _, o := range []client.Object{byCertificate, byPassword, role} {
		s.applied(o)
	}
	s.authenticates(&v1beta2.AuthPolicy{Enabled: true}, v1beta2.ReasonAuthenticationOn)

	s.may("by certificate", "bycert-tls", "", "/app/a", nil)
	s.may("by certificate, outside of the role", "bycert-tls", "", "/b", rpctypes.ErrPermissionDenied)
	s.may("by password", "byname", "first", "/app/a", nil)
	s.may("without a user", s.Name+"-client", "", "/app/a", rpctypes.ErrPermissionDenied)

	s.secretChanges("password", "second")
	s.touch(byPassword)
	s.may("by the new password", "byname", "second", "/app/a", nil)
	s.may("by the former password", "byname", "first", "/app/a", rpctypes.ErrAuthFailed)

	s.secretChanges("app-password", "third")
	r.runs(s.commands("users-and-roles.md", "How users log in", "look="))
	s.may("by the document's password, which was changed", "app", "third", "/app/a", nil)

	s.rotate("ca:1")
	s.may("by a certificate of another authority", "bycert-tls", "", "/app/a", nil)

	must(t, env.Delete(t.Context(), role))
	s.may("without the role", "bycert-tls", "", "/app/a", rpctypes.ErrPermissionDenied)

	s.saves(r, "all.yaml", "auth.md", "Before you switch it on")
	r.runs("kubectl apply -f all.yaml")
	r.runs(s.commands("auth.md", "Before you switch it on", "etcdrole/all"))
	s.may("by the certificate that all applications have", s.Name+"-client", "", "/app/a", nil)
	s.settled()
}

// followsUsers makes the user and the role of the document, with the role that the story is about.
func (s *story) followsUsers(r *prompt) {
	s.t.Helper()
	s.saves(r, "users.yaml", "users-and-roles.md", "In two minutes")
	r.runs(s.commands("users-and-roles.md", "In two minutes", "apply -f users.yaml"))
}

// saves writes the first manifest in a section of a document to a file, for the story's cluster.
func (s *story) saves(r *prompt, file, document, section string) {
	s.t.Helper()
	r.saves(file, strings.ReplaceAll(blocksIn(s.t, document, section, "yaml")[0], "{name: example}", "{name: "+s.Name+"}"))
}

func (s *story) object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.Namespace, Name: name}
}

// applied waits until an EtcdUser or EtcdRole is Ready.
func (s *story) applied(o client.Object) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), o.GetName()+" is Ready", limit, func(ctx context.Context) (string, bool) {
		if err := env.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err.Error(), false
		}
		var all []metav1.Condition
		switch o := o.(type) {
		case *v1beta2.EtcdUser:
			all = o.Status.Conditions
		case *v1beta2.EtcdRole:
			all = o.Status.Conditions
		}
		return fmt.Sprintf("%+v", all), meta.IsStatusConditionTrue(all, v1beta2.ConditionReady)
	}))
}

func (s *story) touch(o client.Object) {
	s.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"look":%q}}}`, time.Now().Format(time.RFC3339Nano))
	must(s.t, env.Patch(s.t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(patch))))
}

func (s *story) secretChanges(name, password string) {
	s.t.Helper()
	secret := &corev1.Secret{ObjectMeta: s.object(name)}
	must(s.t, env.Get(s.t.Context(), client.ObjectKeyFromObject(secret), secret))
	secret.Data = map[string][]byte{"password": []byte(password)}
	must(s.t, env.Update(s.t.Context(), secret))
}

// etcd connects to a member: with the certificate in a Secret for applications or agents, or by name and password.
func (s *story) etcd(ctx context.Context, who, password string) (*clientv3.Client, error) {
	secret := &corev1.Secret{}
	from := who
	if password != "" {
		from = s.Name + "-client" // for its authorities
	}
	if err := env.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: from}, secret); err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(secret.Data["etcd-client.crt"], secret.Data["etcd-client.key"])
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data["etcd-client-ca.crt"])
	pods, err := s.Pods(ctx)
	if err != nil || len(pods) == 0 {
		return nil, fmt.Errorf("%d pods, %w", len(pods), err)
	}
	config := clientv3.Config{
		Endpoints: []string{"https://" + net.JoinHostPort(pods[0].Status.PodIP, "2379")}, Logger: zap.NewNop(), Context: ctx,
		TLS:         &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair}},
		DialOptions: []grpc.DialOption{grpc.WithAuthority(pods[0].Name + "." + s.Name + "." + s.Namespace + ".svc")},
	}
	if password != "" { // a token counts for more than a certificate's name
		config.Username, config.Password = who, password
	}
	return clientv3.New(config)
}

// may waits until a write by somebody ends as it is to.
func (s *story) may(what, who, password, key string, want error) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), what, limit, func(ctx context.Context) (string, bool) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		c, err := s.etcd(ctx, who, password)
		if err == nil {
			defer func() { _ = c.Close() }()
			_, err = c.Put(ctx, key, "v")
		}
		return fmt.Sprintf("got %v, want %v", err, want), errors.Is(err, want)
	}))
}
