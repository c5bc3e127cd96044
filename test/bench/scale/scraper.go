package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// readerRole is the role in config/default for whoever scrapes the operator's metrics.
	readerRole = "etcd-operator-metrics-reader"
	// scraperName is a service account's, in namespace default.
	scraperName = "scraper"
	// tokenLifetime is in seconds, and longer than any run.
	tokenLifetime = 12 * 60 * 60
)

// scraper reads the operator's metrics: over plain HTTP, or as Prometheus does, whom the operator has the API server authenticate and authorize.
type scraper struct {
	url, token string
	client     *http.Client
	// certificate is the folder with the one that the operator serves metrics with, empty for plain HTTP.
	certificate string
}

func newScraper(ctx context.Context, secure bool, address string, p *plane) (*scraper, error) {
	if !secure {
		return &scraper{url: "http://" + address + "/metrics", client: http.DefaultClient}, nil
	}
	s := &scraper{url: "https://" + address + "/metrics", certificate: filepath.Join(p.dir, "metrics")}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.certificate, 0o700); err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(s.certificate, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}}}
	s.token, err = reader(ctx, p.admin)
	return s, err
}

// reader returns a token of a service account that may read the operator's metrics.
func reader(ctx context.Context, admin *rest.Config) (string, error) {
	c, err := client.New(admin, client.Options{})
	if err != nil {
		return "", err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: scraperName}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: scraperName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: readerRole},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}
	for _, object := range []client.Object{account, binding} {
		if err := c.Create(ctx, object); err != nil {
			return "", fmt.Errorf("create %T %s: %w", object, object.GetName(), err)
		}
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenLifetime))}}
	err = c.SubResource("token").Create(ctx, account, request)
	return request.Status.Token, err
}

// arguments are what the operator is told.
func (s *scraper) arguments() []string {
	if s.certificate == "" {
		return []string{"--metrics-secure=false"}
	}
	return []string{"--metrics-cert-dir", s.certificate}
}

func (s *scraper) scrape(ctx context.Context) ([]byte, error) {
	return get(ctx, s.client, s.url, s.token)
}

// scrape reads the operator's metrics again and again for as long as it was left alone before, and looks at what that takes.
func (m *measurement) scrape(ctx context.Context, r *report) error {
	if m.options.scrape == 0 {
		return nil
	}
	row := scraping{clusters: m.n}
	var err error
	if row.without, err = m.operator.memory(resident); err != nil {
		return err
	}
	before, err := m.operator.read(ctx)
	if err != nil {
		return err
	}
	for range max(m.options.idle/m.options.scrape, 1) {
		if err := pause(ctx, m.options.scrape); err != nil {
			return err
		}
		start := time.Now()
		body, err := m.operator.scraper.scrape(ctx)
		if err != nil {
			return err
		}
		row.took, row.bytes = append(row.took, time.Since(start)), len(body)
		now, err := m.operator.memory(resident)
		if err != nil {
			return err
		}
		row.with = append(row.with, now)
	}
	after, err := m.operator.read(ctx)
	if err != nil {
		return err
	}
	row.usage = after.Since(before)
	slices.Sort(row.with)
	r.scraped = append(r.scraped, row)
	return nil
}
