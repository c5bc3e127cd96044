package stories

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestMetrics reads the operator's metrics with the role for that, and has them refused without it, and without a token.
func TestMetrics(t *testing.T) {
	t.Parallel()
	const namespace = "story-metrics"
	must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent(namespace)))
	must(t, env.Namespace(t.Context(), namespace))
	t.Cleanup(func() { deleteNamespace(t, namespace) })
	untilLifted(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "etcd-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "reader"}},
	})
	for name, want := range map[string]int{"reader": http.StatusOK, "stranger": http.StatusForbidden} {
		must(t, env.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}))
		token, err := env.Kube.CoreV1().ServiceAccounts(namespace).
			CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		must(t, err)
		answers(t, name, token.Status.Token, want)
	}
	answers(t, "nobody", "", http.StatusUnauthorized)
}

// answers waits until the operator answers a request for its metrics so. A story before this one may have just recreated its pod.
func answers(t *testing.T, who, token string, want int) {
	t.Helper()
	// The certificate is one that the operator has made for itself.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // #nosec G402
	t.Cleanup(transport.CloseIdleConnections)
	reader := &http.Client{Timeout: 10 * time.Second, Transport: transport}
	must(t, harness.Await(t.Context(), fmt.Sprintf("%s gets %d", who, want), limit, func(ctx context.Context) (string, bool) {
		pods, err := operators(ctx)
		if err != nil || len(pods) == 0 || pods[0].Status.PodIP == "" {
			return fmt.Sprintf("%d operators, %v", len(pods), err), false
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+pods[0].Status.PodIP+":8443/metrics", http.NoBody)
		if err != nil {
			return err.Error(), false
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := reader.Do(request)
		if err != nil {
			return err.Error(), false
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		told := err == nil && strings.Contains(string(body), "controller_runtime_reconcile_total")
		return fmt.Sprintf("%s, metrics %t, %v", response.Status, told, err),
			response.StatusCode == want && told == (want == http.StatusOK)
	}))
}
